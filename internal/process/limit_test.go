//go:build linux

package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func nothingLeft(t *testing.T, token string) {
	t.Helper()
	if left := living(token); len(left) > 0 {
		for _, pid := range left {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			t.Errorf("left behind: %d %q", pid, line)
		}
	}
}

func TestTimeLimitEndsTheWholeTree(t *testing.T) {
	need(t, "setsid")
	// A child, one of another session, one whose parent has ended, and both.
	const tree = `sleep 1000 & setsid sleep 1001 & (sleep 1002 &) ; (setsid sh -c "sleep 1003 & sleep 1004 & wait" &) ; sleep 1005`
	const stubborn = `trap "" TERM; (setsid sh -c "sleep 1006 & sleep 1007" &) ; sleep 1008`
	for _, c := range []struct {
		flags, line string
		code        int
	}{
		{"-limit 300ms", tree, 124},
		{"-limit 300ms -kill 200ms", stubborn, 137},
		{"-limit 300ms -pipe", tree, 124},
		{"-limit 300ms -kill 200ms -pipe", stubborn, 137},
	} {
		for _, terminal := range []bool{true, false} {
			t.Run(fmt.Sprint(c.flags, c.code, terminal), func(t *testing.T) {
				t.Parallel()
				w := wrap(t, c.flags, "sh", "-c", c.line)
				if !terminal {
					w.withoutTerminal()
				}
				e := w.finish(t)
				nothingLeft(t, w.token)
				if e.status.ExitStatus() != c.code || e.took < 300*time.Millisecond || e.took > 8*time.Second {
					t.Errorf("%v after %v", e, e.took)
				}
				if r := w.readResult(t); !r.TimedOut || r.Killed != (c.code == 137) || r.Code != c.code || r.Interrupted != 0 {
					t.Errorf("%+v", r)
				}
			})
		}
	}
}

func TestTimeLimitCodes(t *testing.T) {
	for _, c := range []struct {
		name, flags, line string
		want, out         string
	}{
		{"dies of TERM", "-limit 100ms", "exec sleep 1000", "exit 124", ""},
		{"exits 0 on TERM", "-limit 200ms", `trap "exit 0" TERM; sleep 1000 & wait`, "exit 124", ""},
		{"needs time to clean up", "-limit 200ms -kill 20s", `trap "sleep 1; echo clean; exit 0" TERM; sleep 1000 & wait`, "exit 124", "clean\n"},
		{"cleans up in the background", "-limit 200ms -kill 20s", `trap "(sleep 1; echo clean) & exit 0" TERM; sleep 1000 & wait`, "exit 124", "clean\n"},
		{"is cut off while cleaning up", "-limit 200ms -kill 300ms", `trap "sleep 1000; echo clean; exit 0" TERM; sleep 1000 & wait`, "exit 137", ""},
		{"does not listen", "-limit 100ms -kill 100ms", `trap "" TERM; while :; do sleep 0.01; done`, "exit 137", ""},
		{"has no time at all", "-limit 200ms -kill 0s", `trap "sleep 1000" TERM; sleep 1000 & wait`, "exit 137", ""},
		{"is stopped", "-limit 200ms", "kill -STOP $$; sleep 1000", "exit 124", ""},
		{"ends in time", "-limit 1m", "exit 6", "exit 6", ""},
		{"ends by a signal in time", "-limit 1m", "kill -KILL $$", "died of killed", ""},
		{"could not be found", "-limit 1m", "exec nosuch-command", "exit 127", ""},
		{"leaves one behind that does not listen", "-limit 200ms -kill 300ms", `(trap "" TERM; sleep 1000; sleep 1000) & wait`, "exit 137", ""},
		{"limit of nothing", "-limit 1ns", "exec sleep 1000", "exit 124", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := wrap(t, c.flags, "sh", "-c", c.line)
			e := w.finish(t)
			if e.String() != c.want || e.out != c.out {
				t.Errorf("%v %q, want %s %q", e, e.out, c.want, c.out)
			}
			nothingLeft(t, w.token)
		})
	}
}

// What is forked while the tree is told to end is told too.
func TestTimeLimitIsNotMissed(t *testing.T) {
	for _, terminal := range []bool{true, false} {
		w := wrap(t, "-limit 200ms", "sh", "-c", `while :; do (setsid sleep 1000 &) ; (setsid sh -c "sleep 1001 & wait" &) ; done`)
		if !terminal {
			w.withoutTerminal()
		}
		if e := w.finish(t); e.String() != "exit 124" || e.took > 8*time.Second {
			t.Errorf("%v after %v", e, e.took)
		}
		nothingLeft(t, w.token)
	}
}

// What does not listen goes on forking while it is being killed.
func TestTimeLimitEndsWhatForks(t *testing.T) {
	w := wrap(t, "-limit 200ms -kill 100ms", "sh", "-c", `trap "" TERM; while :; do (setsid sleep 3 &); sleep 0.005; done`)
	if e := w.finish(t); e.String() != "exit 137" {
		t.Error(e)
	}
	nothingLeft(t, w.token)
}

// The rest of the tree has the rest of the grace, and it is not used up when
// the rest ends before.
func TestTimeLimitWaitsForTheRest(t *testing.T) {
	w := wrap(t, "-limit 200ms -kill 30s", "sh", "-c", `(trap "sleep 0.5; echo rest; exit" TERM; sleep 1000 & wait) & exec sleep 1000`)
	e := w.finish(t)
	if e.String() != "exit 124" || e.out != "rest\n" || e.took > 15*time.Second {
		t.Errorf("%v %q after %v", e, e.out, e.took)
	}
}

// Without a limit that was hit, what a command leaves behind is none of our
// business.
func TestTreeIsLeftAlone(t *testing.T) {
	for _, flags := range []string{"", "-limit 1m"} {
		w := wrap(t, flags, "sh", "-c", "sleep 1000 & (setsid sleep 1001 &) ; exit 0")
		if e := w.finish(t); e.String() != "exit 0" || e.took > 10*time.Second {
			t.Errorf("%q: %v after %v", flags, e, e.took)
		}
		eventually(t, "both to be there", func() bool { return len(living(w.token)) == 2 })
	}
}

// A shell that has jobs may have exec'ed us: they are our children, but not
// the command's.
func TestTimeLimitSparesStrangers(t *testing.T) {
	w := wrap(t, "-limit 200ms", "sleep", "1000").in(`sleep 1001 & sh -c "sleep 1002; :" & exec "$@"`)
	if e := w.finish(t); e.String() != "exit 124" {
		t.Error(e)
	}
	if left := living(w.token); len(left) != 3 {
		t.Errorf("%v live, want the three that were there before", left)
	}
}

func TestSubreaperIsRestored(t *testing.T) {
	subreaper := func() (on int32) {
		unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&on)), 0, 0, 0, 0)
		return on
	}
	c := Command{Args: []string{"true"}, Env: os.Environ(), TimeLimit: time.Minute}
	for _, before := range []int32{0, 1, 0} {
		check(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, uintptr(before), 0, 0, 0))
		if r := c.Run(nil); r.Code != 0 || subreaper() != before {
			t.Errorf("%+v, subreaper %d, was %d", r, subreaper(), before)
		}
	}
}

// Orphans that are adopted for the time limit's sake are collected meanwhile.
func TestAdoptedOrphansAreCollected(t *testing.T) {
	w := wrap(t, "-limit 1m", "sh", "-c", `
		n=0; while [ $n -lt 20 ]; do (true &); n=$((n+1)); done
		n=0; while [ $n -lt 1000 ]; do
			zombies=$(grep -l "^PPid:	$PPID\$" /proc/[0-9]*/status 2>/dev/null | xargs grep -l "^State:	Z" 2>/dev/null)
			[ -z "$zombies" ] && exit 7
			n=$((n+1))
		done; echo "$zombies"`)
	if e := w.finish(t); e.String() != "exit 7" {
		t.Errorf("%v %s", e, e.out)
	}
}

func TestSignalsWithAGroupOfItsOwn(t *testing.T) {
	w := wrap(t, "-limit 1m", self("@count", "INT", "TERM", "USR1")...).withoutTerminal()
	c := w.talk(t)
	var pid int
	fmt.Sscan(c.expect("ready"), &pid)
	if group, _ := syscall.Getpgid(pid); group != pid {
		t.Errorf("group %d of %d", group, pid)
	}
	w.Process.Signal(syscall.SIGINT)
	c.expect("got INT")
	w.Process.Signal(syscall.SIGTERM)
	c.expect("got TERM")
	w.Process.Signal(syscall.SIGUSR1)
	c.expect("got USR1")
	w.Process.Signal(syscall.SIGUSR2)
	if got := c.expect("counts"); got != "map[INT:1 TERM:1 USR1:1]" {
		t.Error(got)
	}
	c.end()
}

// A stop signal has to reach all of the command's group, as it would have
// reached all of ours.
func TestStopWithAGroupOfItsOwn(t *testing.T) {
	w := wrap(t, "-limit 1m", "sh", "-c", "sleep 1000 & echo ready; wait").withoutTerminal()
	c := w.talk(t)
	c.expect("ready")
	w.Process.Signal(syscall.SIGTERM)
	if e := c.end(); e.status.Signal() != syscall.SIGTERM {
		t.Error(e)
	}
	eventually(t, "all to end", func() bool { return len(living(w.token)) == 0 })
}

func TestStopDuringTheGrace(t *testing.T) {
	w := wrap(t, "-limit 100ms -kill 1m", "sh", "-c", `trap "echo told" TERM; trap "exit 9" INT; while :; do sleep 0.01; done`).withoutTerminal()
	c := w.talk(t)
	c.expect("told")
	w.Process.Signal(syscall.SIGINT)
	if e := c.end(); e.String() != "exit 124" {
		t.Error(e)
	}
	if r := w.readResult(t); !r.TimedOut || r.Interrupted != syscall.SIGINT || r.Killed {
		t.Errorf("%+v", r)
	}
}

func TestReadProc(t *testing.T) {
	p, ok := readProc(strconv.Itoa(os.Getpid()))
	if !ok || p.pid != os.Getpid() || p.parent != os.Getppid() || p.group != syscall.Getpgrp() || p.start == 0 {
		t.Errorf("%+v %v", p, ok)
	}
	for _, name := range []string{"self", "meminfo", "999999999"} {
		if _, ok := readProc(name); ok {
			t.Errorf("%s is a process", name)
		}
	}
	odd := filepath.Join(t.TempDir(), "a) R 1 (b")
	check(t, os.WriteFile(odd, []byte("#!/bin/sh\necho ready\nread x\n"), 0o755))
	w := wrap(t, "", odd)
	w.Cmd = exec.Command(odd)
	in, err := w.StdinPipe()
	check(t, err)
	c := w.talk(t)
	c.expect("ready")
	if p, ok := readProc(strconv.Itoa(w.Process.Pid)); !ok || p.parent != os.Getpid() || p.group != syscall.Getpgrp() {
		t.Errorf("%+v %v", p, ok)
	}
	in.Close()
	c.end()
}
