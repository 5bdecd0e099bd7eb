//go:build linux

package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// terminal is a pseudo terminal with a program on it.
type terminal struct {
	*os.File
	t   *testing.T
	cmd *exec.Cmd

	mu   sync.Mutex
	text string // what it shows and has not been expected yet
	done chan struct{}
}

func onTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	file, err := pty.Start(cmd)
	if err != nil {
		t.Skipf("needs a pseudo terminal: %v", err)
	}
	// Fd has made it blocking, and then Close waits for a Read to end.
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	check(t, err)
	file.Close()
	check(t, unix.SetNonblock(fd, true))
	file = os.NewFile(uintptr(fd), "terminal")
	term := &terminal{File: file, t: t, cmd: cmd, done: make(chan struct{})}
	go term.show()
	t.Cleanup(func() {
		cmd.Process.Kill()
		file.Close()
		<-term.done
	})
	return term
}

func (term *terminal) show() {
	defer close(term.done)
	buf := make([]byte, 4096)
	for {
		n, err := term.Read(buf)
		term.mu.Lock()
		term.text += string(buf[:n])
		term.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// expect waits until the terminal shows s and returns what follows on its line.
func (term *terminal) expect(s string) (rest string) {
	term.t.Helper()
	for over := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		term.mu.Lock()
		_, after, found := strings.Cut(term.text, s)
		line, following, whole := strings.Cut(after, "\n")
		if found && whole {
			term.text = following
		}
		text := term.text
		term.mu.Unlock()
		if found && whole {
			return strings.TrimSpace(line)
		}
		if time.Now().After(over) {
			term.t.Fatalf("no %q on the terminal:\n%s", s, text)
		}
	}
}

func (term *terminal) typed(s string) {
	term.t.Helper()
	_, err := term.WriteString(s)
	check(term.t, err)
}

func (term *terminal) end() syscall.WaitStatus {
	term.cmd.Wait()
	return term.cmd.ProcessState.Sys().(syscall.WaitStatus)
}

func TestTerminalStaysATerminal(t *testing.T) {
	term := onTerminal(t, wrap(t, "", self("@isatty")...).in(`"$@"; echo " end"`).Cmd)
	term.expect("true true true  end")
	term.end()
}

func TestInterruptFromTheTerminal(t *testing.T) {
	for _, flags := range []string{"", "-limit 1m"} {
		for key, sig := range map[string]syscall.Signal{"\x03": syscall.SIGINT, "\x1c": syscall.SIGQUIT} {
			w := wrap(t, flags, self("@count", "INT", "QUIT", "TERM")...)
			term := onTerminal(t, w.Cmd)
			term.expect("ready")
			term.typed(key)
			term.expect("got ")
			handled(t, w.Process.Pid)
			w.Process.Signal(syscall.SIGTERM)
			term.expect("got TERM")
			w.Process.Signal(syscall.SIGUSR2)
			want := map[syscall.Signal]string{syscall.SIGINT: "map[INT:1 TERM:1]", syscall.SIGQUIT: "map[QUIT:1 TERM:1]"}[sig]
			if got := term.expect("counts "); got != want {
				t.Errorf("%v with %q: %s, want %s", sig, flags, got, want)
			}
			if s := term.end(); !s.Exited() || s.ExitStatus() != 0 {
				t.Errorf("%v: %v", sig, term.cmd.ProcessState)
			}
			if r := w.readResult(t); r.Interrupted != sig {
				t.Errorf("%+v", r)
			}
		}
	}
}

// handled waits until a process is done with the signals that it was sent: none
// waits, and no thread blocks any, as it does while it handles one.
func handled(t *testing.T, pid int) {
	t.Helper()
	idle := func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
		check(t, err)
		for _, thread := range threads {
			status, err := os.ReadFile(thread)
			if err == nil && len(regexp.MustCompile(`(SigPnd|ShdPnd|SigBlk):\t0+\n`).FindAll(status, -1)) != 3 {
				return false
			}
		}
		return true
	}
	for over := time.Now().Add(20 * time.Second); !idle(); time.Sleep(time.Millisecond) {
		if time.Now().After(over) {
			t.Fatal("signals are pending")
		}
	}
}

func TestWeDieOfTheInterruptToo(t *testing.T) {
	for key, sig := range map[string]syscall.Signal{"\x03": syscall.SIGINT, "\x1c": syscall.SIGQUIT} {
		w := wrap(t, "", "sh", "-c", "echo ready; exec sleep 1000")
		term := onTerminal(t, w.Cmd)
		term.expect("ready")
		term.typed(key)
		if s := term.end(); !s.Signaled() || s.Signal() != sig {
			t.Errorf("%v, want %v", term.cmd.ProcessState, sig)
		}
		if r := w.readResult(t); r.Interrupted != sig || r.Signal != sig {
			t.Errorf("%+v", r)
		}
	}
}

// A ^C at any moment of the start must not be lost between us and the command.
func TestEarlyInterruptFromTheTerminal(t *testing.T) {
	all := wrap(t, "", "sleep", "1000")
	for n := range 50 {
		w := exec.Command(all.Path, all.Args[1:]...)
		w.Env = all.Env
		term := onTerminal(t, w)
		time.Sleep(time.Duration(n) * 300 * time.Microsecond)
		term.typed("\x03")
		lost := time.AfterFunc(10*time.Second, func() { w.Process.Kill() })
		s := term.end()
		if !lost.Stop() {
			t.Fatalf("^C after %d steps was lost", n)
		}
		if s.Exited() && s.ExitStatus() != 130 {
			t.Errorf("ended with %v", w.ProcessState)
		}
	}
	nothingLeft(t, all.token)
}

func TestFiftyInterruptsFromTheTerminal(t *testing.T) {
	for n := range 50 {
		w := wrap(t, "", self("@exit", strconv.Itoa(n%2))...)
		term := onTerminal(t, w.Cmd)
		term.expect("ready")
		term.typed("\x03")
		if s := term.end(); s.ExitStatus() != n%2 {
			t.Fatalf("run %d: %v", n, term.cmd.ProcessState)
		}
		if r := w.readResult(t); r.Interrupted != syscall.SIGINT {
			t.Fatalf("run %d: %+v", n, r)
		}
	}
}

func TestHangupOfTheTerminal(t *testing.T) {
	w := wrap(t, "", "sh", "-c", "echo ready; exec sleep 1000")
	term := onTerminal(t, w.Cmd)
	term.expect("ready")
	term.Close()
	if s := term.end(); !s.Signaled() || s.Signal() != syscall.SIGHUP {
		t.Error(term.cmd.ProcessState)
	}
	if r := w.readResult(t); r.Interrupted != syscall.SIGHUP {
		t.Errorf("%+v", r)
	}
}

func TestWindowSize(t *testing.T) {
	need(t, "stty")
	w := wrap(t, "", self("@count", "WINCH")...)
	term := onTerminal(t, w.Cmd)
	term.expect("ready")
	check(t, pty.Setsize(term.File, &pty.Winsize{Rows: 31, Cols: 97}))
	term.expect("got WINCH")
	w.Process.Signal(syscall.SIGUSR2)
	term.expect("counts map[WINCH:1]")
	term.end()

	term = onTerminal(t, wrap(t, "", "sh", "-c", "read x; stty size; stty -echo; stty -a").Cmd)
	check(t, pty.Setsize(term.File, &pty.Winsize{Rows: 32, Cols: 98}))
	term.typed("\n")
	term.expect("32 98")
	term.expect("-echo")
	term.end()
}

func TestCommandReadsTheTerminal(t *testing.T) {
	for _, flags := range []string{"", "-limit 1m"} {
		term := onTerminal(t, wrap(t, flags, "sh", "-c", `read x; read y </dev/tty; echo "<$x $y>"`).Cmd)
		term.typed("hello\nthere\n")
		term.expect("<hello there>")
		if s := term.end(); s.ExitStatus() != 0 {
			t.Error(term.cmd.ProcessState)
		}
	}
}

func TestTimeLimitOnATerminal(t *testing.T) {
	w := wrap(t, "-limit 300ms", "sh", "-c", "(setsid sleep 1000 &); read x")
	term := onTerminal(t, w.Cmd)
	if s := term.end(); s.ExitStatus() != 124 {
		t.Error(term.cmd.ProcessState)
	}
	nothingLeft(t, w.token)
}
