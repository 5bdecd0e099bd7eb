//go:build !linux && !darwin && !windows

package store

import "time"

// bootClock knows no boot clock: the wall clock counts.
func bootClock() (string, time.Duration) { return "", 0 }
