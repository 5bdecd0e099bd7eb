//go:build unix

package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// place fills a directory with everything a lookup may come across.
func place(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, file := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"bin/tool":        {"#!/bin/sh\necho tool in bin \"$0\" \"$@\"\n", 0o755},
		"alt/tool":        {"#!/bin/sh\necho tool in alt\n", 0o755},
		"denied/tool":     {"#!/bin/sh\necho wrong\n", 0o644},
		"badint/tool":     {"#!/nonexistent/sh\n", 0o755},
		"plain":           {"echo plain \"$0\" \"$@\"; exit 5\n", 0o755},
		"bin/plain":       {"echo plain in bin \"$0\" \"$@\"; exit 6\n", 0o755},
		"noexec":          {"#!/bin/sh\n", 0o644},
		"badinterpreter":  {"#!/nonexistent/sh\n", 0o755},
		"empty":           {"", 0o755},
		"halfelf":         {"\x7fELF\x02\x01\x01\n", 0o755},
		"dirs/tool/inner": {"", 0o644},
		"-dash":           {"#!/bin/sh\necho dash\n", 0o755},
	} {
		path := filepath.Join(dir, name)
		check(t, os.MkdirAll(filepath.Dir(path), 0o755))
		check(t, os.WriteFile(path, []byte(file.text), file.mode))
		check(t, os.Chmod(path, file.mode))
	}
	check(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	check(t, os.Symlink("nowhere", filepath.Join(dir, "dangling")))
	return dir
}

type lookup struct {
	name string
	path string // "-": none
	code int    // what execvp and timeout make of it
	err  string // in our message
}

func lookups() []lookup {
	return []lookup{
		{name: "tool", path: "bin:alt", code: 0},
		{name: "tool", path: "alt:bin", code: 0},
		{name: "tool", path: "nosuch:bin", code: 0},
		{name: "tool", path: "denied:bin", code: 0},
		{name: "tool", path: "dirs:bin", code: 0},
		{name: "tool", path: "badint:bin", code: 0},
		{name: "tool", path: "plain:bin", code: 0},
		{name: "tool", path: "denied", code: 126, err: "tool: permission denied"},
		{name: "tool", path: "denied:nosuch", code: 126, err: "tool: permission denied"},
		{name: "tool", path: "dirs", code: 126, err: "tool: permission denied"},
		{name: "tool", path: "plain", code: 126, err: "tool: not a directory"},
		{name: "tool", path: "plain:nosuch", code: 127, err: "tool: command not found"},
		{name: "tool", path: "badint", code: 127, err: "tool: command not found"},
		{name: "tool", path: "loop:bin", code: 126, err: "tool: too many levels of symbolic links"},
		{name: "plain", path: "", code: 5},
		{name: "plain", path: ":bin", code: 5},
		{name: "plain", path: "bin:", code: 6},
		{name: "plain", path: "nosuch::bin", code: 5},
		{name: "nosuch", path: "bin:alt", code: 127, err: "nosuch: command not found"},
		{name: "nosuch", path: "-", code: 127, err: "nosuch: command not found"},
		{name: "true", path: "-", code: 0},
		{name: "", path: "bin", code: 127, err: `"": command not found`},
		{name: "a\nb", path: "bin", code: 127, err: `"a\nb": command not found`},
		{name: strings.Repeat("n", 300), path: "bin", code: 126, err: "file name too long"},
		{name: "./plain", path: "bin", code: 5},
		{name: "bin/tool", path: "alt", code: 0},
		{name: "./noexec", path: "bin", code: 126, err: "./noexec: permission denied"},
		{name: "./dirs", path: "bin", code: 126, err: "./dirs: is a directory"},
		{name: "./nosuch", path: "bin", code: 127, err: "./nosuch: no such file or directory"},
		{name: "./dangling", path: "bin", code: 127, err: "./dangling: no such file or directory"},
		{name: "./badinterpreter", path: "bin", code: 127, err: "./badinterpreter: its interpreter was not found"},
		{name: "./loop", path: "bin", code: 126, err: "./loop: too many levels of symbolic links"},
		{name: "./plain/x", path: "bin", code: 126, err: "./plain/x: not a directory"},
		{name: "./plain/", path: "bin", code: 126, err: "./plain/: not a directory"},
		{name: "./empty", path: "bin", code: 0},
		{name: "./-dash", path: "bin", code: 0},
		{name: "/", path: "bin", code: 126, err: "/: is a directory"},
	}
}

func TestLookup(t *testing.T) {
	dir := place(t)
	timeout, _ := exec.LookPath("timeout")
	for _, l := range lookups() {
		t.Run(quote(l.name)+" in "+l.path, func(t *testing.T) {
			w := wrap(t, "", l.name, "one", "two words")
			w.Dir, w.Env = dir, []string{w.token}
			if l.path != "-" {
				w.Env = append(w.Env, "PATH="+l.path)
			}
			e := w.finish(t)
			if e.status.ExitStatus() != l.code {
				t.Errorf("%v, want exit %d; stderr %q", e, l.code, e.err)
			}
			if !strings.Contains(e.err, l.err) {
				t.Errorf("stderr %q, want %q", e.err, l.err)
			}
			if l.err != "" && strings.Count(e.err, "\n") != 1 {
				t.Errorf("not one line: %q", e.err)
			}
			if r := w.readResult(t); r.Started != (l.err == "") {
				t.Errorf("started %v", r.Started)
			}
			if timeout == "" {
				t.Skip("needs timeout for the comparison")
			}
			other := exec.Command(timeout, "60", l.name, "one", "two words")
			other.Dir, other.Env = w.Dir, w.Env
			if o := finish(t, other); o.String() != e.String() || o.out != e.out {
				t.Errorf("%v %q, but timeout: %v %q", e, e.out, o, o.out)
			}
		})
	}
}

// An unknown format is run by the shell, whatever the shell makes of it.
func TestLookupOfHalfAProgram(t *testing.T) {
	need(t, "timeout")
	dir := place(t)
	w := wrap(t, "", "./halfelf")
	w.Dir = dir
	other := exec.Command("timeout", "60", "./halfelf")
	other.Dir = dir
	if e, o := w.finish(t), finish(t, other); e.String() != o.String() {
		t.Errorf("%v, but timeout: %v", e, o)
	}
}

func TestTooLongArgumentIsNotRunnable(t *testing.T) {
	c := Command{Args: []string{"/bin/echo", strings.Repeat("x", 8<<20)}}
	r := c.Run(nil)
	if r.Started || r.Code != 126 || r.NoFork || r.StartErr == nil ||
		r.StartErr.Error() != "/bin/echo: argument list too long" {
		t.Errorf("%+v", r)
	}
	r = Command{Args: []string{"echo", "a\x00b"}}.Run(nil)
	if r.Started || r.Code != 126 {
		t.Errorf("%+v", r)
	}
}

// Somebody who has just written a program may still have it open.
func TestBusyProgramIsTriedAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tool")
	sh, err := os.ReadFile("/bin/sh")
	check(t, err)
	check(t, os.WriteFile(file, sh, 0o755))
	writer, err := os.OpenFile(file, os.O_RDWR, 0)
	check(t, err)
	first := writer
	time.AfterFunc(50*time.Millisecond, func() { first.Close() })
	r := Command{Args: []string{file, "-c", "exit 7"}}.Run(nil)
	if !r.Started || r.Code != 7 {
		t.Errorf("%+v", r)
	}
	writer, err = os.OpenFile(file, os.O_RDWR, 0)
	check(t, err)
	defer writer.Close()
	r = Command{Args: []string{file, "-c", "exit 7"}}.Run(nil)
	if r.Started || r.Code != 126 || !strings.HasSuffix(r.StartErr.Error(), ": text file busy") {
		t.Errorf("while it is written: %+v", r)
	}
}
