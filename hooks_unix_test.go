//go:build unix

package main

import (
	"bytes"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestOneHookOfManyFailures lets many runs fail at once: one of them has made
// the transition, and its hook alone is run.
func TestOneHookOfManyFailures(t *testing.T) {
	f := newFleet(t)
	ends := f.all(crowd, func(<-chan ended) {
		f.eventually("all have started", func() bool { return f.lines("started") == crowd })
		f.create("go")
	}, "run", "--name", "api", "--timeout", "1ms", "--on-open", "echo $CIRCUIT_EVENT >>told", "-c", untilGo+"exit 1")
	for _, end := range ends {
		if end.code != 1 || strings.Contains(end.stderr, "warning") {
			t.Errorf("exit code %d: %s", end.code, end.stderr)
		}
	}
	if n := f.lines("told"); n != 1 {
		t.Errorf("%d hooks ran, want 1", n)
	}
	// The same for the recovery: the probe has both hooks, the others none.
	f.create("told")
	f.all(crowd, func(<-chan ended) {}, "run", "--name", "api",
		"--on-half-open", "echo $CIRCUIT_EVENT >>told", "--on-close", "echo $CIRCUIT_EVENT >>told", "true")
	told, err := os.ReadFile(f.path("told"))
	if err != nil || string(told) != "half-open\nclose\n" {
		t.Errorf("told %q (%v)", told, err)
	}
}

// interrupted starts a run whose hook hangs, sends ^C during the hook, and
// returns how the run ended.
func (f fleet) interrupted(args ...string) (syscall.WaitStatus, string) {
	f.Helper()
	var stderr bytes.Buffer
	c := f.cb(args...)
	c.Stderr = &stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		f.Fatal(err)
	}
	f.eventually("the hook runs", func() bool { return f.lines("hooked") == 1 })
	if err := c.Process.Signal(os.Interrupt); err != nil {
		f.Fatal(err)
	}
	_ = c.Wait() // how it ended is looked at
	return c.ProcessState.Sys().(syscall.WaitStatus), stderr.String()
}

func TestInterruptedHookLeavesTheCode(t *testing.T) {
	f := newFleet(t)
	end, stderr := f.interrupted("run", "--name", "api", "--threshold", "1", "--fallback", "touch fell",
		"--on-open", "echo >>hooked; exec sleep 60", "-c", "exit 7")
	if end.ExitStatus() != 7 || !strings.Contains(stderr, "on-open hook of api failed (exit 130)") {
		t.Errorf("ended with %v, want the command's 7\n%s", end, stderr)
	}
	if _, err := os.Stat(f.path("fell")); err == nil {
		t.Error("a fallback ran after ^C")
	}
}

func TestInterruptedHookBeforeTheProbe(t *testing.T) {
	f := newFleet(t)
	_ = f.cb("run", "--name", "api", "--threshold", "1", "--timeout", "1ms", "false").Run()
	f.eventually("the period ends", func() bool { return f.cb("check", "api").Run() == nil })
	end, stderr := f.interrupted("run", "--name", "api", "--on-half-open", "echo >>hooked; exec sleep 60", "--", "touch", "ran")
	if !end.Signaled() || end.Signal() != syscall.SIGINT {
		t.Errorf("ended with %v, want death by INT\n%s", end, stderr)
	}
	if _, err := os.Stat(f.path("ran")); err == nil {
		t.Error("the command was started after ^C")
	}
	if out, err := f.cb("run", "--name", "api", "true").CombinedOutput(); err != nil {
		t.Errorf("the probe's slot is not free: %v\n%s", err, out)
	}
}

func TestInterruptedHookStopsManualCommands(t *testing.T) {
	f := newFleet(t)
	if out, err := f.cb("trip", "a", "b").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("CB_ON_CLOSE", "echo >>hooked; exec sleep 60")
	end, stderr := f.interrupted("reset", "--all")
	if !end.Signaled() || end.Signal() != syscall.SIGINT || !strings.Contains(stderr, "a closed") {
		t.Errorf("ended with %v\n%s", end, stderr)
	}
	if a, b := f.status("a").State, f.status("b").State; a != "closed" || b != "open" {
		t.Errorf("a is %s and b is %s, want closed and open", a, b)
	}
}
