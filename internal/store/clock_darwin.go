package store

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootClock returns the id of this boot and the time since it began. The raw
// monotonic clock of darwin counts sleep and is never adjusted.
func bootClock() (string, time.Duration) {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil || id == "" {
		return "", 0
	}
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC_RAW, &now); err != nil {
		return "", 0
	}
	return id, time.Duration(now.Nano())
}
