//go:build linux

package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// talk starts a wrapper and returns its output by lines.
func (w *wrapper) talk(t *testing.T) *conversation {
	t.Helper()
	out, err := w.StdoutPipe()
	check(t, err)
	w.Stderr = os.Stderr
	check(t, w.Start())
	return &conversation{w: w, t: t, lines: bufio.NewScanner(out)}
}

type conversation struct {
	w     *wrapper
	t     *testing.T
	lines *bufio.Scanner
	seen  []string
}

// expect reads up to a line that begins with prefix and returns the rest of it.
func (c *conversation) expect(prefix string) string {
	c.t.Helper()
	for c.lines.Scan() {
		line := strings.TrimSpace(c.lines.Text())
		c.seen = append(c.seen, line)
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			return strings.TrimSpace(rest)
		}
	}
	c.t.Fatalf("no line %q in %q", prefix, c.seen)
	return ""
}

func (c *conversation) end() ended {
	c.t.Helper()
	for c.lines.Scan() {
		c.seen = append(c.seen, c.lines.Text())
	}
	c.w.Wait()
	return ended{status: c.w.ProcessState.Sys().(syscall.WaitStatus)}
}

func TestEachSignalIsForwardedOnce(t *testing.T) {
	w := wrap(t, "", self("@count", "INT", "TERM", "HUP", "QUIT", "USR1", "ALRM")...).withoutTerminal()
	c := w.talk(t)
	c.expect("ready")
	for name, sig := range map[string]syscall.Signal{
		"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP,
		"QUIT": syscall.SIGQUIT, "USR1": syscall.SIGUSR1, "ALRM": syscall.SIGALRM,
	} {
		w.Process.Signal(sig)
		c.expect("got " + name)
		w.Process.Signal(sig)
		c.expect("got " + name)
	}
	w.Process.Signal(syscall.SIGUSR2)
	if got := c.expect("counts"); got != "map[ALRM:2 HUP:2 INT:2 QUIT:2 TERM:2 USR1:2]" {
		t.Error(got)
	}
	if e := c.end(); e.String() != "exit 0" {
		t.Error(e)
	}
	if r := w.readResult(t); r.Interrupted == 0 || r.Signal != 0 || r.Code != 0 {
		t.Errorf("%+v", r)
	}
}

// What this process is told about its own streams and files is not for the
// command, which would die of it.
func TestOwnSignalsAreNotForwarded(t *testing.T) {
	w := wrap(t, "", self("@count")...)
	c := w.talk(t)
	c.expect("ready")
	w.Process.Signal(syscall.SIGPIPE)
	w.Process.Signal(syscall.SIGXFSZ)
	w.Process.Signal(syscall.SIGUSR2)
	if e := c.end(); e.String() != "exit 0" {
		t.Error(e)
	}
	if r := w.readResult(t); r.Interrupted != 0 {
		t.Errorf("%+v", r)
	}
}

func TestStopSignalsAreTold(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		w := wrap(t, "", "sh", "-c", "echo ready; exec sleep 1000").withoutTerminal()
		c := w.talk(t)
		c.expect("ready")
		w.Process.Signal(sig)
		if e := c.end(); !e.status.Signaled() || e.status.Signal() != sig {
			t.Errorf("%v, want %v", e, sig)
		}
		if r := w.readResult(t); r.Interrupted != sig || r.Signal != sig || r.Code != 128+int(sig) {
			t.Errorf("%+v", r)
		}
	}
}

// A ^C in a terminal reaches the command and us in no fixed order; here the
// whole group is sent it in the same way.
func TestGroupSignalIsNeverMissed(t *testing.T) {
	for n := range 50 {
		w := wrap(t, "", self("@exit", strconv.Itoa(n%2))...)
		w.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		c := w.talk(t)
		c.expect("ready")
		syscall.Kill(-w.Process.Pid, syscall.SIGINT)
		if e := c.end(); e.String() != fmt.Sprintf("exit %d", n%2) {
			t.Fatal(e)
		}
		if r := w.readResult(t); r.Interrupted != syscall.SIGINT {
			t.Fatalf("run %d: %+v", n, r)
		}
	}
}

func TestEarlyTermLeavesNoOrphan(t *testing.T) {
	all := wrap(t, "", "sleep", "1000")
	t.Run("runs", func(t *testing.T) {
		for n := range 200 {
			t.Run(strconv.Itoa(n), func(t *testing.T) {
				t.Parallel()
				w := exec.Command(all.Path, all.Args[1:]...)
				w.Env = all.Env
				check(t, w.Start())
				// Spread over the whole start-up, before Catch and after exec.
				time.Sleep(time.Duration(n) * 100 * time.Microsecond)
				w.Process.Signal(syscall.SIGTERM)
				w.Wait()
				if s := w.ProcessState.Sys().(syscall.WaitStatus); !s.Signaled() && s.ExitStatus() != 143 {
					t.Errorf("ended with %v", w.ProcessState)
				}
			})
		}
	})
	nothingLeft(t, all.token)
}

func TestIgnoredSignalsStayIgnored(t *testing.T) {
	w := wrap(t, "", self("@count", "HUP", "INT")...).in(`trap "" HUP INT; exec "$@"`)
	c := w.talk(t)
	c.expect("ready")
	w.Process.Signal(syscall.SIGHUP)
	w.Process.Signal(syscall.SIGINT)
	w.Process.Signal(syscall.SIGUSR2)
	if got := c.expect("counts"); got != "map[]" {
		t.Error(got)
	}
	if e := c.end(); e.String() != "exit 0" {
		t.Error(e)
	}
}

func TestNohup(t *testing.T) {
	need(t, "nohup")
	w := wrap(t, "", "sh", "-c", "echo ready; read x; exit 4").in(`exec nohup "$@"`)
	in, answer, err := os.Pipe()
	check(t, err)
	defer in.Close()
	w.Stdin = in
	c := w.talk(t)
	c.expect("ready")
	w.Process.Signal(syscall.SIGHUP)
	answer.WriteString("\n")
	answer.Close()
	if e := c.end(); e.String() != "exit 4" {
		t.Error(e)
	}
}

// The command sees the dispositions, masks and limits it would see without us.
func TestSignalStateIsInherited(t *testing.T) {
	grep, err := exec.LookPath("grep")
	check(t, err)
	show := []string{grep, "-E", "^Sig(Ign|Blk|Cgt)", "/proc/self/status"}
	for _, line := range []string{`exec "$@"`, `trap "" HUP INT; exec "$@"`, `trap "" TSTP TTIN TTOU; exec "$@"`, `trap "" CHLD; exec "$@"`} {
		got := wrap(t, "", show...).in(line).finish(t).out
		want := finish(t, exec.Command("/bin/sh", append([]string{"-c", line, "sh"}, show...)...)).out
		if strings.Contains(line, "CHLD") { // the runtime needs it, so the command gets the default
			got, want = "", ""
		}
		if got != want {
			t.Errorf("%s:\n%swant:\n%s", line, got, want)
		}
	}
	// The runtime always unblocks HUP, INT, QUIT and TERM, and no other.
	blocked := self("@blocked", "10", "14", "--")
	w := wrap(t, "", show...)
	got := finish(t, exec.Command(blocked[0], append(blocked[1:], w.Args...)...)).out
	want := finish(t, exec.Command(blocked[0], append(blocked[1:], show...)...)).out
	if got != want || !strings.Contains(want, "2200") {
		t.Errorf("mask:\n%swant:\n%s", got, want)
	}
}

func TestIgnoredChildSignalAndLimits(t *testing.T) {
	w := wrap(t, "", "sh", "-c", "ulimit -n; exit 3").in(`trap "" CHLD; ulimit -S -n 99; exec "$@"`)
	if e := w.finish(t); e.String() != "exit 3" || e.out != "99\n" {
		t.Errorf("%v %q", e, e.out)
	}
}

// A wrapper that is killed leaves the command alone.
func TestKilledWrapperLeavesTheCommand(t *testing.T) {
	w := wrap(t, "", "sh", "-c", "echo ready $$; exec sleep 1000")
	c := w.talk(t)
	pid := c.expect("ready")
	w.Process.Kill()
	w.Process.Wait()
	if left := living(w.token); len(left) != 1 || strconv.Itoa(left[0]) != pid {
		t.Errorf("%v live, want %s", left, pid)
	}
}

// send sends this process a signal and waits until it has been noted.
func (s *Signals) send(t *testing.T, sig syscall.Signal) {
	t.Helper()
	check(t, syscall.Kill(os.Getpid(), sig))
	eventually(t, sig.String(), func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return slices.Contains(s.pending, sig)
	})
}

func TestStopBeforeTheStart(t *testing.T) {
	s := Catch()
	defer s.Close()
	if s.Stopped() != 0 || s.Context().Err() != nil {
		t.Fatal("stopped before anything happened")
	}
	s.send(t, syscall.SIGTERM)
	s.send(t, syscall.SIGINT)
	<-s.Context().Done()
	if s.Stopped() != syscall.SIGTERM {
		t.Errorf("stopped by %v, want the first", s.Stopped())
	}
	r := Command{Args: []string{"true"}, Env: os.Environ()}.Run(s)
	if r.Started || r.Interrupted != syscall.SIGTERM || r.Code != 143 || r.StartErr != nil {
		t.Errorf("%+v", r)
	}
}

func TestOtherSignalsDoNotStop(t *testing.T) {
	s := Catch()
	defer s.Close()
	s.send(t, syscall.SIGUSR1)
	s.send(t, syscall.SIGALRM)
	if s.Stopped() != 0 || s.Context().Err() != nil {
		t.Error("stopped")
	}
}

func TestSettleReturnsWhatCameBefore(t *testing.T) {
	s := Catch()
	defer s.Close()
	s.send(t, syscall.SIGUSR1)
	if got := s.settle(); !slices.Contains(got, syscall.SIGUSR1) {
		t.Errorf("%v", got)
	}
	if got := slices.DeleteFunc(s.settle(), func(sig syscall.Signal) bool { return sig == syscall.SIGCHLD }); len(got) != 0 {
		t.Errorf("%v again", got)
	}
}

func TestCloseTwice(t *testing.T) {
	s := Catch()
	s.Close()
	s.Close()
	if s.Stopped() != 0 {
		t.Error("stopped by Close")
	}
}
