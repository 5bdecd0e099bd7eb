package process

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// blockedMain blocks signals, given by number before a --, for the command
// after it.
func blockedMain(args []string) int {
	runtime.LockOSThread()
	for i, arg := range args {
		if arg == "--" {
			err := syscall.Exec(args[i+1], args[i+1:], os.Environ())
			fmt.Fprintln(os.Stderr, err)
			return 98
		}
		n, _ := strconv.Atoi(arg)
		var set unix.Sigset_t
		set.Val[0] = 1 << (n - 1)
		unix.PthreadSigmask(unix.SIG_BLOCK, &set, nil)
	}
	return 97
}

// Who has had a ^C and is still there catches it or ignores it, or holds it
// back.
func TestDiesOf(t *testing.T) {
	const sh = "/bin/sh"
	for _, test := range []struct {
		argv []string
		want bool
	}{
		{[]string{"/bin/sleep", "1000"}, true},
		{[]string{sh, "-c", "trap '' INT; echo ready; exec sleep 1000"}, false},
		{[]string{sh, "-c", "trap : INT; echo ready; while :; do sleep 1000; done"}, false},
		{self("@blocked", "2", "--", sh, "-c", "echo ready; exec sleep 1000"), true},
	} {
		w := wrap(t, "").withoutTerminal()
		w.Path, w.Args = test.argv[0], test.argv
		c := w.talk(t)
		if test.argv[0] != "/bin/sleep" {
			c.expect("ready")
		}
		eventually(t, fmt.Sprintf("%q to die of it: %v", test.argv, test.want), func() bool { return diesOf(w.Process.Pid, syscall.SIGINT) == test.want })
		w.Process.Kill()
		w.Wait()
		if !diesOf(w.Process.Pid, syscall.SIGINT) {
			t.Errorf("%q is not there any more, and yet does not die of it", test.argv)
		}
	}
}
