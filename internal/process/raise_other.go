//go:build unix && !linux

package process

import (
	"os"
	"syscall"
)

// Raise makes this process die of sig, so that its parent sees what it would
// have seen of the command. It returns only when that cannot be done.
func Raise(sig syscall.Signal) {
	if sig <= 0 || os.Getpid() == 1 {
		return
	}
	dropCore()
	raiseByShell(sig)
}
