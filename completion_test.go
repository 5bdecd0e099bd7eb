//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// shellTest is a shell in which completion is tried as a person would: by
// typing. args is a function that shows its arguments, each in [[ and ]].
type shellTest struct {
	name  string
	start []string // arguments
	rc    string   // typed first
	home  string   // the key that goes to the start of the line
}

func shellTests() []shellTest {
	return []shellTest{
		{
			"bash",
			[]string{"--norc", "--noprofile", "-i"},
			`args() { printf '[''[%s]]' "$@"; echo "<"end">"; }; PS1='> '; bind 'set bell-style none'; source <(cb completion bash); echo re''ady`, "\x01",
		},
		{
			"zsh",
			[]string{"-f", "-i"},
			`args() { printf '[''[%s]]' "$@"; echo "<"end">"; }; PS1='> '; unsetopt beep zle_bracketed_paste; bindkey -e; autoload -U compinit; compinit -D; source <(cb completion zsh); echo re''ady`, "\x01",
		},
		{
			"fish",
			[]string{"--no-config", "-i"},
			`function args; printf '[''[%s]]' $argv; echo "<"end">"; end; function fish_prompt; echo '> '; end; cb completion fish | source; echo re''ady`, "\x01",
		},
	}
}

// TestCompletion types into real shells. ⇥ is the tab key.
func TestCompletion(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"alpha", "two words", "it's", `say "hi"`, "ns:api", "ns:web", "pay$x", "wide 一", "wide 二", "a=b"} {
		c := exec.Command("cb", "run", "--name", name, "true")
		c.Env = append(os.Environ(), "CB_STORE="+filepath.Join(dir, "store"))
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "data-file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	type typing struct{ typed, want string }
	inQuotes := []typing{
		{`cb status "two w⇥`, "cb|status|two words"},
		{"cb status 'two w⇥", "cb|status|two words"},
		{`cb status "it⇥`, "cb|status|it's"},
		{`cb status "pay⇥`, "cb|status|pay$x"},
		{`cb status "ns:w⇥`, "cb|status|ns:web"},
		{`cb run --name="two⇥`, "cb|run|--name=two words"},
	}
	tests := []typing{
		{"cb sta⇥", "cb|status"},
		{"cb status al⇥", "cb|status|alpha"},
		{"cb history al⇥", "cb|history|alpha"},
		{"cb run --name al⇥", "cb|run|--name|alpha"},
		{"cb run --name=al⇥", "cb|run|--name=alpha"},
		{"cb status two⇥", "cb|status|two words"},
		{"cb status it⇥", "cb|status|it's"},
		{"cb status say⇥", `cb|status|say "hi"`},
		{"cb status ns:a⇥", "cb|status|ns:api"},
		{"cb status n⇥a⇥", "cb|status|ns:api"},
		{"cb status pay⇥", "cb|status|pay$x"},
		{"cb status a=⇥", "cb|status|a=b"},
		{"cb status wi⇥二⇥", "cb|status|wide 二"},
		{"cb status --state hal⇥", "cb|status|--state|half-open"},
		{"cb status --state=hal⇥", "cb|status|--state=half-open"},
		{"cb status --state open,hel⇥", "cb|status|--state|open,held"},
		{"cb run --on-store-error ref⇥", "cb|run|--on-store-error|refuse"},
		{"cb run --fallback-on ref⇥", "cb|run|--fallback-on|refused"},
		{"cb record al⇥suc⇥", "cb|record|alpha|success"},
		{"cb run --name x -- cb-only-h⇥", "cb|run|--name|x|--|cb-only-here"},
		{"cb run --name x -- cat dat⇥", "cb|run|--name|x|--|cat|data-file"},
		{"cb check dat⇥", "cb|check|dat"},
		{"cb run --timeout dat⇥", "cb|run|--timeout|dat"},
		{"cb help exit⇥", "cb|help|exit-codes"},
		{"cb completion po⇥", "cb|completion|powershell"},
	}
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "cb-only-here"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, shell := range shellTests() {
		t.Run(shell.name, func(t *testing.T) {
			needs(t, shell.name)
			s := startShell(t, shell, dir, bin)
			tests := tests
			if shell.name == "bash" { // the other scripts are cobra's, and lose an open quote
				tests = append(slices.Clip(tests), inQuotes...)
			}
			for _, test := range tests {
				want := "[[" + strings.ReplaceAll(test.want, "|", "]][[") + "]]"
				got := s.try(shell, strings.ReplaceAll(test.typed, "⇥", "\t"))
				if got != want {
					t.Errorf("%s gives %s, want %s", test.typed, got, want)
				}
			}
		})
	}
}

// shellSession is a shell on a terminal.
type shellSession struct {
	t      *testing.T
	file   *os.File
	output chan []byte
	seen   bytes.Buffer
}

func startShell(t *testing.T, shell shellTest, dir, bin string) *shellSession {
	t.Helper()
	c := exec.Command(shell.name, shell.start...)
	c.Dir = dir
	c.Env = append(os.Environ(), "CB_STORE="+filepath.Join(dir, "store"), "TERM=xterm", "HOME="+dir,
		"XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir, "LC_ALL=C.UTF-8", "PATH="+bin+":"+os.Getenv("PATH"))
	file, err := pty.StartWithSize(c, &pty.Winsize{Cols: 300, Rows: 50})
	if err != nil {
		t.Fatal(err)
	}
	s := &shellSession{t: t, file: file, output: make(chan []byte, 64)}
	t.Cleanup(func() {
		c.Process.Kill()
		file.Close()
		c.Wait()
	})
	go func() {
		defer close(s.output)
		for {
			chunk := make([]byte, 4096)
			n, err := file.Read(chunk)
			if n > 0 {
				s.output <- chunk[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	s.write(shell.rc + "\n")
	s.until("ready")
	return s
}

func (s *shellSession) write(text string) {
	s.t.Helper()
	if _, err := s.file.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// until reads on until a text comes and returns what came before it.
func (s *shellSession) until(text string) string {
	s.t.Helper()
	patient := time.After(patience)
	for {
		if before, after, found := bytes.Cut(s.seen.Bytes(), []byte(text)); found {
			got := string(before)
			s.seen = *bytes.NewBuffer(bytes.Clone(after))
			return got
		}
		select {
		case chunk, open := <-s.output:
			if !open {
				s.t.Fatalf("the shell has ended; it wrote %q", s.seen.String())
			}
			s.seen.Write(chunk)
		case <-patient:
			s.t.Fatalf("no %q in %q", text, s.seen.String())
		}
	}
}

// try types a line, completes it, and returns the words that it became.
func (s *shellSession) try(shell shellTest, typed string) string {
	s.t.Helper()
	s.write(typed + shell.home + "args \n")
	got := s.until("<end>")
	if at := strings.Index(got, "[["); at >= 0 {
		return got[at:]
	}
	return fmt.Sprintf("%q", got)
}
