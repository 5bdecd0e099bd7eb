package main

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// delayTimers lets the kernel delay the timers of what this thread starts. Under
// valgrind everything is slow but the clock: the runtime's monitor, which
// wakes up every 20 µs, would find system calls that take long, and start
// threads to go on without them, more of them the busier the machine is.
func delayTimers() error {
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(4*time.Second), 0, 0, 0); err != nil {
		return fmt.Errorf("set the timer slack: %w", err)
	}
	return nil
}
