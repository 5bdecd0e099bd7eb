//go:build unix

package process

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// suspendWait bounds the wait for a stop that does not come: the process may
// be in a group that nobody could continue.
const suspendWait = 200 * time.Millisecond

// Suspend stops the group of this process, as ^Z would, and returns when it is
// continued. A terminal in raw mode leaves that to its reader.
func Suspend() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	bound := time.NewTimer(suspendWait)
	defer bound.Stop()
	syscall.Kill(0, syscall.SIGTSTP)
	select {
	case <-continued:
	case <-bound.C:
	}
}
