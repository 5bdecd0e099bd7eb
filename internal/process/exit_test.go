//go:build unix

package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestExitCodeIsTheCommandsOwn(t *testing.T) {
	for _, code := range []int{0, 1, 2, 75, 124, 125, 126, 127, 128, 130, 143, 255} {
		w := wrap(t, "", "sh", "-c", "exit "+strconv.Itoa(code))
		e := w.finish(t)
		if !e.status.Exited() || e.status.ExitStatus() != code {
			t.Errorf("exit %d became %v", code, e)
		}
		if e.out != "" || e.err != "" {
			t.Errorf("exit %d: unexpected output %q %q", code, e.out, e.err)
		}
		if r := w.readResult(t); !r.Started || r.Code != code || r.Signal != 0 || r.Interrupted != 0 {
			t.Errorf("exit %d: %+v", code, r)
		}
	}
}

// Signals that end a process by default, as numbers every system shares and
// the rest of what Linux has.
func deadlySignals() (list []syscall.Signal) {
	if runtime.GOOS != "linux" {
		return []syscall.Signal{1, 2, 3, 4, 5, 6, 8, 9, 11, 13, 14, 15}
	}
	harmless := map[int]bool{17: true, 18: true, 19: true, 20: true, 21: true, 22: true, 23: true, 28: true}
	for n := 1; n <= 36; n++ {
		if !harmless[n] {
			list = append(list, syscall.Signal(n))
		}
	}
	return append(list, 64)
}

func TestDeathBySignalIsPassedOn(t *testing.T) {
	for _, sig := range deadlySignals() {
		t.Run(strconv.Itoa(int(sig)), func(t *testing.T) {
			t.Parallel()
			w := wrap(t, "", "sh", "-c", fmt.Sprintf("kill -%d $$", sig)).in(`ulimit -c unlimited 2>/dev/null; exec "$@"`)
			w.Dir = t.TempDir()
			e := w.finish(t)
			if !e.status.Signaled() || e.status.Signal() != sig {
				t.Fatalf("%v, want death by %d; stderr %q", e, sig, e.err)
			}
			if e.status.CoreDump() {
				t.Error("left a second core")
			}
			if e.err != "" {
				t.Errorf("stderr %q", e.err)
			}
			r := w.readResult(t)
			if r.Signal != sig || r.Code != 128+int(sig) || r.TimedOut || !r.Started {
				t.Errorf("%+v", r)
			}
			if r.Interrupted != 0 {
				t.Errorf("interrupted by %v", r.Interrupted)
			}
		})
	}
}

// The way of the systems that have no raw sigaction.
func TestRaiseByShell(t *testing.T) {
	for _, sig := range []int{2, 3, 6, 9, 11, 13, 15} {
		e := finish(t, exec.Command(os.Args[0], "@shellraise", strconv.Itoa(sig)))
		if !e.status.Signaled() || int(e.status.Signal()) != sig {
			t.Errorf("%v, want death by %d", e, sig)
		}
	}
}

func TestRaiseIgnoresNonsense(t *testing.T) {
	Raise(0)
	Raise(-1)
}

// A shell loop must stop on a death by INT and go on after a plain exit 130.
func TestCallersShellSeesTheSignal(t *testing.T) {
	w := wrap(t, "", "sh", "-c", "kill -TERM $$").in(`"$@"; echo "code $?"`)
	if e := w.finish(t); !strings.Contains(e.out, "code 143") {
		t.Errorf("out %q", e.out)
	}
}

func TestArgumentsAndEnvironmentArriveAsTheyAre(t *testing.T) {
	args := []string{"", " ", "a\nb", "\xff\xfe", "-n", "--", `"'\$`, "ü", strings.Repeat("x", 100000)}
	w := wrap(t, "", self(append([]string{"@args"}, args...)...)...)
	if e := w.finish(t); e.out != fmt.Sprintf("%q", args) {
		t.Errorf("got %.200s", e.out)
	}
	env := []string{"B=2", "A=1", "A=3", "ODD", "BYTES=\xff", "EMPTY="}
	w = wrap(t, "", "/usr/bin/env", "-0")
	w.Env = env
	if _, err := os.Stat("/usr/bin/env"); err != nil {
		t.Skip("needs /usr/bin/env")
	}
	got := w.finish(t).out
	direct := exec.Command("/usr/bin/env", "-0")
	direct.Env = env
	if want := finish(t, direct).out; got != want {
		t.Errorf("environment %q, want %q", got, want)
	}
}

func TestWorkingDirectoryAndMaskAreKept(t *testing.T) {
	w := wrap(t, "", "sh", "-c", "pwd -P; umask").in(`umask 027; exec "$@"`)
	w.Dir = t.TempDir()
	dir, err := filepath.EvalSymlinks(w.Dir)
	check(t, err)
	if e := w.finish(t); e.out != dir+"\n0027\n" && e.out != dir+"\n027\n" {
		t.Errorf("got %q", e.out)
	}
}

func TestShellRunsALine(t *testing.T) {
	if got := Shell("a | b"); len(got) != 3 || got[0] != "/bin/sh" || got[2] != "a | b" {
		t.Errorf("%q", got)
	}
	w := wrap(t, "", Shell(`echo "$0" | cat; exit 4`)...)
	w.Env = append(w.Env, "SHELL=/bin/false")
	if e := w.finish(t); e.status.ExitStatus() != 4 || strings.TrimSpace(e.out) != "/bin/sh" {
		t.Errorf("%v %q", e, e.out)
	}
}

func TestNoRoomForAProcessIsNeutral(t *testing.T) {
	for _, err := range []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE} {
		var r Result
		Command{Args: []string{"x"}}.refuse(err, &r)
		if !r.NoFork || r.Code != 125 || r.StartErr == nil || r.Started {
			t.Errorf("%v: %+v", err, r)
		}
	}
}
