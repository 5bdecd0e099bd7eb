//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// patience bounds every wait of the terminal tests.
const patience = 20 * time.Second

// terminal is cb on a terminal of its own.
type terminal struct {
	t    *testing.T
	cb   *exec.Cmd
	file *os.File // what the person at it holds
	tty  *os.File // what cb has

	before *term.State // of tty, when cb started

	mu     sync.Mutex
	output bytes.Buffer
}

// startTerminal runs cb on a terminal of that size, with the store in dir.
func startTerminal(t *testing.T, dir string, columns, lines uint16, env []string, args ...string) *terminal {
	t.Helper()
	file, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	s := &terminal{t: t, file: file, tty: tty, cb: exec.Command("cb", args...)}
	s.resize(columns, lines)
	if s.before, err = term.GetState(int(tty.Fd())); err != nil {
		t.Fatal(err)
	}
	s.cb.Stdin, s.cb.Stdout, s.cb.Stderr = tty, tty, tty
	s.cb.Env = append(append(os.Environ(), "CB_STORE="+dir, "TERM=xterm", "NO_COLOR="), env...)
	s.cb.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cb.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		chunk := make([]byte, 4096)
		for {
			n, err := file.Read(chunk)
			s.mu.Lock()
			s.output.Write(chunk[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		s.cb.Process.Kill()
		tty.Close()
		file.Close()
	})
	return s
}

func (s *terminal) resize(columns, lines uint16) {
	s.t.Helper()
	if err := pty.Setsize(s.file, &pty.Winsize{Cols: columns, Rows: lines}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *terminal) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.output.String()
}

// frame returns the newest complete picture, as its lines.
func (s *terminal) frame() []string {
	pictures := strings.Split(s.text(), "\x1b[H")
	for i := len(pictures) - 1; i > 0; i-- {
		if picture, _, whole := strings.Cut(pictures[i], "\x1b[J"); whole {
			return strings.Split(strings.TrimSuffix(strings.ReplaceAll(picture, "\x1b[K", ""), "\r\n"), "\r\n")
		}
	}
	return nil
}

// await waits until the newest picture is as wanted.
func (s *terminal) await(what string, wanted func(lines []string) bool) {
	s.t.Helper()
	for end := time.Now().Add(patience); !wanted(s.frame()); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("no picture with %s; the last:\n%s", what, strings.Join(s.frame(), "\n"))
		}
	}
}

// ends waits for the end of cb and returns how it ended.
func (s *terminal) ends() syscall.WaitStatus {
	s.t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.cb.Wait() }()
	select {
	case err := <-done:
		var failed *exec.ExitError
		if err != nil && !errors.As(err, &failed) {
			s.t.Fatal(err)
		}
	case <-time.After(patience):
		s.t.Fatalf("cb goes on; it wrote:\n%q", s.text())
	}
	return s.cb.ProcessState.Sys().(syscall.WaitStatus)
}

// circuits makes a store with a closed and an open circuit.
func circuits(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	for _, args := range [][]string{
		{"run", "--name", "good", "true"},
		{"run", "--name", "bad", "--threshold", "1", "false"},
	} {
		c := exec.Command("cb", args...)
		c.Env = append(os.Environ(), "CB_STORE="+dir)
		var failed *exec.ExitError
		if err := c.Run(); err != nil && !errors.As(err, &failed) {
			t.Fatal(err)
		}
	}
	return dir
}

func has(text string) func(lines []string) bool {
	return func(lines []string) bool { return strings.Contains(strings.Join(lines, "\n"), text) }
}

// TestWatchLeavesTheTerminalAsItWas ends a watch in every way that there is.
func TestWatchLeavesTheTerminalAsItWas(t *testing.T) {
	dir := circuits(t)
	for name, end := range map[string]struct {
		by   func(s *terminal)
		died syscall.Signal // 0: it exits with 0
	}{
		"q":    {by: func(s *terminal) { s.file.WriteString("xq") }},
		"^C":   {by: func(s *terminal) { s.file.WriteString("\x03") }},
		"INT":  {by: func(s *terminal) { s.cb.Process.Signal(syscall.SIGINT) }},
		"TERM": {by: func(s *terminal) { s.cb.Process.Signal(syscall.SIGTERM) }, died: syscall.SIGTERM},
	} {
		t.Run(name, func(t *testing.T) {
			s := startTerminal(t, dir, 80, 24, nil, "status", "--watch=1h")
			s.await("the circuits", has("good"))
			end.by(s)
			status := s.ends()
			switch {
			case end.died == 0 && (!status.Exited() || status.ExitStatus() != 0):
				t.Errorf("ended with %v", status)
			case end.died != 0 && status.Signal() != end.died:
				t.Errorf("ended with %v, want signal %v", status, end.died)
			}
			s.written("\x1b[?7h\x1b[?25h\x1b[?1049l")
			after, err := term.GetState(int(s.tty.Fd()))
			if err != nil || *after != *s.before {
				t.Errorf("the terminal is %+v (%v), was %+v", after, err, s.before)
			}
		})
	}
}

// written waits until the output ends with a text.
func (s *terminal) written(text string) {
	s.t.Helper()
	for end := time.Now().Add(patience); !strings.HasSuffix(s.text(), text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("the output does not end with %q:\n%q", text, s.text())
		}
	}
}

// TestWatchRedraws follows a watch through what can change under it.
func TestWatchRedraws(t *testing.T) {
	dir := circuits(t)
	s := startTerminal(t, dir, 80, 24, []string{"NO_COLOR=1"}, "status", "--watch=20ms")
	s.await("both circuits", func(lines []string) bool {
		return len(lines) > 3 && strings.HasPrefix(lines[1], "bad ") && strings.HasPrefix(lines[2], "good ")
	})
	if !strings.HasPrefix(s.text(), "\x1b[?1049h\x1b[?25l") {
		t.Errorf("it does not begin with another screen: %q", s.text())
	}
	s.resize(24, 24)
	s.await("fewer columns", func(lines []string) bool {
		return len(lines) > 0 && strings.TrimRight(lines[0], " ") == "NAME  STATE     NEXT TRY"
	})
	s.resize(80, 5)
	s.await("what does not fit counted", has("... and 2 more"))
	s.resize(80, 24)
	if err := os.WriteFile(filepath.Join(dir, "broken.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.await("trouble inside", func(lines []string) bool {
		return has("cb: warning: cannot read broken (damaged")(lines) && has("good")(lines)
	})
	s.file.WriteString("q")
	s.ends()
}

// TestWatchWithoutTerminal repeats plain pictures.
func TestWatchWithoutTerminal(t *testing.T) {
	c := exec.Command("cb", "status", "--watch=20ms", "good")
	c.Env = append(os.Environ(), "CB_STORE="+circuits(t), "CLICOLOR_FORCE=")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	timeout := time.AfterFunc(patience, func() { c.Process.Kill() })
	defer timeout.Stop()
	var seen []byte
	chunk := make([]byte, 1024)
	for bytes.Count(seen, []byte("good  ")) < 3 {
		n, err := out.Read(chunk)
		if err != nil {
			t.Fatalf("%v after %q", err, seen)
		}
		seen = append(seen, chunk[:n]...)
	}
	c.Process.Signal(os.Interrupt)
	if err := c.Wait(); err != nil {
		t.Errorf("after INT: %v", err)
	}
	if bytes.Contains(seen, []byte("\x1b")) {
		t.Errorf("escape sequences: %q", seen)
	}
}

func TestWatchBeginsWithWhatIsWrong(t *testing.T) {
	s := startTerminal(t, circuits(t), 80, 24, nil, "status", "--watch", "nosuch")
	if status := s.ends(); status.ExitStatus() != 125 {
		t.Errorf("ended with %v", status)
	}
	s.written("cb: no circuit is called \"nosuch\"\r\ncb: hint: looked in " + s.cb.Env[len(s.cb.Env)-3][len("CB_STORE="):] + "\r\n")
}

// TestColour tells when there are colours.
func TestColour(t *testing.T) {
	dir := circuits(t)
	red := regexp.MustCompile(`\x1b\[31m`)
	for _, test := range []struct {
		name     string
		terminal bool
		env      []string
		colour   bool
	}{
		{"a terminal", true, nil, true},
		{"NO_COLOR", true, []string{"NO_COLOR=1"}, false},
		{"a dumb terminal", true, []string{"TERM=dumb"}, false},
		{"CLICOLOR=0", true, []string{"CLICOLOR=0"}, false},
		{"a pipe", false, nil, false},
		{"a pipe, forced", false, []string{"CLICOLOR_FORCE=1"}, true},
		{"a pipe, not forced", false, []string{"CLICOLOR_FORCE=0"}, false},
		{"NO_COLOR wins", false, []string{"NO_COLOR=1", "CLICOLOR_FORCE=1"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out string
			if test.terminal {
				s := startTerminal(t, dir, 80, 24, test.env, "status")
				s.ends()
				for end := time.Now().Add(patience); !strings.Contains(s.text(), "good") && time.Now().Before(end); {
					time.Sleep(5 * time.Millisecond)
				}
				out = s.text()
			} else {
				c := exec.Command("cb", "status")
				c.Env = append(append(os.Environ(), "CB_STORE="+dir, "TERM=xterm"), test.env...)
				text, err := c.Output()
				if err != nil {
					t.Fatal(err)
				}
				out = string(text)
			}
			if !strings.Contains(out, "bad") || red.MatchString(out) != test.colour {
				t.Errorf("colour %v, want %v: %q", red.MatchString(out), test.colour, out)
			}
		})
	}
}
