//go:build linux

package process

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// unshared runs the wrapper as the first process of a process namespace.
func (w *wrapper) unshared(t *testing.T, flags ...string) *wrapper {
	t.Helper()
	need(t, "unshare")
	args := append(append([]string{"unshare", "-pf"}, flags...), "--")
	if out, err := exec.Command(args[0], append(args[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("unshare is not allowed: %s", out)
	}
	path, err := exec.LookPath("unshare")
	check(t, err)
	w.Path, w.Args = path, append(args, w.Args...)
	return w
}

func TestFirstProcess(t *testing.T) {
	for _, c := range []struct{ flags, line, want, out string }{
		{"", "exit 7", "exit 7", ""},
		{"", "echo $PPID; kill -TERM $$", "exit 143", "1\n"},
		{"", "kill -SEGV $$", "exit 139", ""},
		{"", "exec nosuch-command", "exit 127", ""},
		{"-limit 200ms", "(setsid sleep 1000 &) ; sleep 1000", "exit 124", ""},
		{"-limit 200ms -kill 100ms", `trap "" TERM; (setsid sleep 1000 &) ; sleep 1000; sleep 1000`, "exit 137", ""},
		{"", `
			n=0; while [ $n -lt 20 ]; do (true &); n=$((n+1)); done
			n=0; while [ $n -lt 1000 ]; do
				grep -q "^State:	Z" /proc/[0-9]*/status || exit 7
				n=$((n+1))
			done; exit 8`, "exit 7", ""},
	} {
		w := wrap(t, c.flags, "sh", "-c", c.line).unshared(t, "--mount-proc")
		if e := w.finish(t); e.String() != c.want || e.out != c.out {
			t.Errorf("%q: %v %q, want %s; %s", c.line, e, e.out, c.want, e.err)
		}
	}
}

func TestFirstProcessIsStopped(t *testing.T) {
	w := wrap(t, "", "sh", "-c", "echo ready; exec sleep 1000").unshared(t, "--mount-proc", "--kill-child")
	c := w.talk(t)
	c.expect("ready")
	first, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", w.Process.Pid, w.Process.Pid))
	if err != nil {
		t.Skip("needs lists of children in /proc")
	}
	var pid int
	fmt.Sscan(string(first), &pid)
	check(t, syscall.Kill(pid, syscall.SIGTERM))
	if e := c.end(); e.String() != "exit 143" {
		t.Error(e)
	}
	if r := w.readResult(t); r.Interrupted != syscall.SIGTERM || r.Signal != syscall.SIGTERM {
		t.Errorf("%+v", r)
	}
}

// With a /proc that is about other process numbers than ours nobody else must
// be hit.
func TestTimeLimitWithAForeignProc(t *testing.T) {
	other := wrap(t, "", "sh", "-c", "echo ready; exec sleep 1000")
	c := other.talk(t)
	c.expect("ready")
	w := wrap(t, "-limit 200ms -kill 100ms", "sh", "-c", `trap "" TERM; sleep 1000; sleep 1000`).unshared(t)
	if e := w.finish(t); e.String() != "exit 137" {
		t.Errorf("%v %s", e, e.err)
	}
	if len(living(other.token)) != 2 {
		t.Error("hit a process that is not ours")
	}
	other.Process.Signal(syscall.SIGTERM)
	c.end()
}
