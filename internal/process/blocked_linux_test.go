package process

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"

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
