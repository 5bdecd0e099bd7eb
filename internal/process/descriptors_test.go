//go:build linux

package process

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// listFDs prints descriptor numbers and what they lead to.
const listFDs = `for f in /proc/$$/fd/*; do [ -e "$f" ] && printf '%s ' "${f##*/}" && readlink "$f"; done; true`

func TestDescriptorsArriveAsTheyAre(t *testing.T) {
	dir := t.TempDir()
	for _, redirect := range []string{
		"",
		"<" + dir + "/in >" + dir + "/out 2>&1",
		"7<" + dir + "/in 9>" + dir + "/out 23<>" + dir + "/in",
		"3>&1 4<&0 5>&2",
		"1<>" + dir + "/in",
		"2>" + dir + "/err 1>&2",
	} {
		check(t, os.WriteFile(filepath.Join(dir, "in"), nil, 0o600))
		list := func(through string) string {
			w := wrap(t, "", "sh", "-c", "exec >"+dir+"/list; "+listFDs)
			w.in(through + " " + redirect)
			if through == `"$@"` {
				w.finish(t)
			} else {
				w.Args = append(w.Args[:4], "sh", "-c", "exec >"+dir+"/list; "+listFDs)
				w.finish(t)
			}
			return regexp.MustCompile(`/proc/\d+`).ReplaceAllString(read(t, dir+"/list"), "/proc/N")
		}
		// Their output files have names of their own in each run.
		temporary := regexp.MustCompile(`/\S+/(out|err)\n`)
		got := temporary.ReplaceAllString(list(`"$@"`), "$1\n")
		want := temporary.ReplaceAllString(list(`exec "$@"`), "$1\n")
		if got != want || !strings.Contains(want, "1 "+dir+"/list") {
			t.Errorf("with %q:\n%swant:\n%s", redirect, got, want)
		}
	}
}

// What this program opens itself must not outlive it in a child.
func TestOwnDescriptorsAreNotInherited(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "lock"))
	check(t, err)
	defer file.Close()
	var out bytes.Buffer
	c := Command{Args: []string{"/bin/sh", "-c", listFDs}, Env: os.Environ(), PipeStdout: &out, PipeStderr: io.Discard}
	if r := c.Run(nil); r.Code != 0 {
		t.Fatalf("%+v", r)
	}
	if strings.Contains(out.String(), file.Name()) {
		t.Errorf("inherited:\n%s", out.String())
	}
	// Whatever the tests themselves were started with is listed too.
	var direct bytes.Buffer
	cmd := exec.Command("/bin/sh", "-c", "exec <&-; "+listFDs)
	cmd.Stdout = &direct
	check(t, cmd.Run())
	if got, want := strings.Count(out.String(), "\n"), strings.Count(direct.String(), "\n"); got != want {
		t.Errorf("%d descriptors, want %d:\n%s\n%s", got, want, out.String(), direct.String())
	}
}

func TestNoFileIsAClosedDescriptor(t *testing.T) {
	var out bytes.Buffer
	c := Command{
		Args: []string{"/bin/sh", "-c", "for n in 0 1 2; do [ -e /proc/$$/fd/$n ] && echo $n; done"},
		Env:  os.Environ(), PipeStdout: &out,
	}
	if r := c.Run(nil); !r.Started || out.String() != "1\n" {
		t.Errorf("%+v, open: %q", r, out.String())
	}
}

func TestLeftOverProcessDoesNotHoldUs(t *testing.T) {
	for _, flags := range []string{"", "-pipe", "-limit 1m", "-limit 1m -pipe"} {
		t.Run(flags, func(t *testing.T) {
			t.Parallel()
			w := wrap(t, flags, "sh", "-c", "sleep 1000 & echo hi; echo oh >&2; exit 3")
			e := w.finish(t)
			if e.status.ExitStatus() != 3 || e.out != "hi\n" || e.err != "oh\n" {
				t.Errorf("%v %q %q", e, e.out, e.err)
			}
			if e.took > 10*time.Second {
				t.Errorf("took %v", e.took)
			}
			if len(living(w.token)) != 1 {
				t.Errorf("%v live, want the sleeper alone", living(w.token))
			}
			if r := w.readResult(t); r.Took > e.took || r.Code != 3 || r.TimedOut {
				t.Errorf("%+v", r)
			}
		})
	}
}

// A process that goes on writing for ever is cut off too.
func TestLeftOverWriterDoesNotHoldUs(t *testing.T) {
	w := wrap(t, "-pipe", "sh", "-c", "yes & exit 3")
	w.Stdout = io.Discard
	if e := w.finish(t); e.status.ExitStatus() != 3 || e.took > 10*time.Second {
		t.Errorf("%v after %v", e, e.took)
	}
}

// What a left-over process says shortly after is still waited for.
func TestPipeWaitsForAStraggler(t *testing.T) {
	w := wrap(t, "-pipe", "sh", "-c", "(sleep 0.1; echo late) & echo now")
	if e := w.finish(t); e.out != "now\nlate\n" {
		t.Errorf("%q", e.out)
	}
}

func TestPipesKeepStreamsApartAndWhole(t *testing.T) {
	const script = `i=0; while [ $i -lt 2000 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done; printf 'end\000\377'`
	direct := wrap(t, "", "sh", "-c", script).finish(t)
	piped := wrap(t, "-pipe", "sh", "-c", script).finish(t)
	if piped.out != direct.out || piped.err != direct.err {
		t.Errorf("out %d of %d bytes, err %d of %d", len(piped.out), len(direct.out), len(piped.err), len(direct.err))
	}
	if !strings.HasSuffix(piped.out, "end\x00\xff") {
		t.Error("the end is missing")
	}
}

// chunks hands on each write.
type chunks chan string

func (c chunks) Write(p []byte) (int, error) {
	c <- string(p)
	return len(p), nil
}

func TestPipeGivesChunksAsTheyArrive(t *testing.T) {
	in, answer, err := os.Pipe()
	check(t, err)
	defer in.Close()
	got := make(chunks)
	c := Command{
		Args: []string{"/bin/sh", "-c", "printf ask; read x; printf told$x"},
		Env:  os.Environ(), Stdin: in, PipeStdout: got,
	}
	done := make(chan Result)
	go func() { done <- c.Run(nil) }()
	if s := <-got; s != "ask" {
		t.Errorf("first %q", s)
	}
	answer.WriteString("me\n")
	answer.Close()
	if s := <-got; s != "toldme" {
		t.Errorf("then %q", s)
	}
	if r := <-done; r.Code != 0 {
		t.Errorf("%+v", r)
	}
}

// slow takes longer for its first chunk than a left-over process is waited for.
type slow struct {
	bytes.Buffer
	waited bool
}

func (s *slow) Write(p []byte) (int, error) {
	if !s.waited {
		s.waited = true
		time.Sleep(drainWait + 100*time.Millisecond)
	}
	return s.Buffer.Write(p)
}

func TestSlowReaderLosesNothing(t *testing.T) {
	token := "PROCESS_TEST_TOKEN=" + t.TempDir()
	t.Cleanup(func() { endAll(token) })
	var out slow
	c := Command{
		Args: []string{"/bin/sh", "-c", `sleep 1000 & printf '%060000d' 0; sleep 0.1; printf end`},
		Env:  append(os.Environ(), token), PipeStdout: &out,
	}
	if r := c.Run(nil); r.Code != 0 {
		t.Fatalf("%+v", r)
	}
	if out.Len() != 60003 || !strings.HasSuffix(out.String(), "end") {
		t.Errorf("%d bytes", out.Len())
	}
}

// broken fails with an error.
type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

// Output that cannot be passed on ends the command as a closed pipe does, and is
// told unless its reader had just gone away.
func TestBrokenReaderEndsTheCommand(t *testing.T) {
	need(t, "yes")
	for err, want := range map[error]error{syscall.ENOSPC: syscall.ENOSPC, syscall.EPIPE: nil} {
		r := Command{Args: []string{"yes"}, Env: os.Environ(), PipeStdout: broken{err}}.Run(nil)
		if r.Signal != syscall.SIGPIPE || r.Code != 141 || !errors.Is(r.OutputLost, want) {
			t.Errorf("%v: %+v", err, r)
		}
	}
}

// A command whose messages cannot be written goes on as it would without us.
func TestBrokenStderrIsTheCommandsOwn(t *testing.T) {
	line := `for n in 1 2 3 4 5 6 7 8 9; do printf %70000s x >&2; done; exit 6`
	full := Command{Args: []string{"/bin/sh", "-c", line}, Env: os.Environ(), PipeStderr: broken{syscall.ENOSPC}}.Run(nil)
	if full.Code != 6 || full.OutputLost != nil {
		t.Errorf("%+v", full)
	}
	gone := Command{Args: []string{"/bin/sh", "-c", line}, Env: os.Environ(), PipeStderr: broken{syscall.EPIPE}}.Run(nil)
	if gone.Signal != syscall.SIGPIPE {
		t.Errorf("%+v", gone)
	}
}

func TestStreamsThatCannotBeUsed(t *testing.T) {
	for _, c := range []struct{ line, flags, command, want string }{
		{`"$@" >&-`, "", "exit 3", "exit 3"},
		{`"$@" <&- >&- 2>&-`, "", "exit 3", "exit 3"},
		{`"$@" <&- >&- 2>&-`, "-pipe", "echo a; echo b >&2; exit 3", "exit 3"},
		{`"$@" >&-`, "-pipe", "echo a; exit 3", "exit 3"},
		{`"$@" 2>&-`, "-say x", "exit 75", "exit 75"},
		{`"$@" 2>/dev/full`, "-say x", "exit 75", "exit 75"},
		{`"$@" >/dev/full 2>&1`, "-pipe -say x", "exit 75", "exit 75"},
		{`"$@" >/dev/full`, "", "echo x || exit 4", "exit 4"},
		{`"$@" <&-`, "", "cat; exit 5", "exit 5"},
	} {
		w := wrap(t, c.flags, "sh", "-c", c.command).in(c.line)
		if e := w.finish(t); e.String() != c.want {
			t.Errorf("%s with %q of %q: %v, want %s; %q", c.line, c.flags, c.command, e, c.want, e.err)
		}
	}
}

// closedReader returns the writing end of a pipe that nobody reads.
func closedReader(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	check(t, err)
	r.Close()
	t.Cleanup(func() { w.Close() })
	return w
}

func TestReaderThatHasGone(t *testing.T) {
	need(t, "yes")
	for _, flags := range []string{"", "-pipe"} {
		w := wrap(t, flags, "yes")
		w.Stdout = closedReader(t)
		e := w.finish(t)
		if !e.status.Signaled() || e.status.Signal() != syscall.SIGPIPE {
			t.Errorf("%q: %v", flags, e)
		}
	}
	w := wrap(t, "-say hello", "sh", "-c", "exit 75")
	w.Stderr = closedReader(t)
	if e := w.finish(t); e.String() != "exit 75" {
		t.Errorf("our own message to a closed pipe: %v", e)
	}
	if r := w.readResult(t); r.Interrupted != 0 || r.Signal != 0 {
		t.Errorf("%+v", r)
	}
}
