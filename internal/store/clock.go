package store

import "time"

// Reading is both clocks at one instant. Boot is zero and BootID empty where
// the system has no boot clock.
type Reading struct {
	Wall   time.Time     `json:"wall"`
	BootID string        `json:"boot_id,omitempty"`
	Boot   time.Duration `json:"boot,omitempty"` // since the start of the system, sleep included
}

// maxDisagreement is how far the two clocks may part before the wall clock is
// taken to have stepped. Slewing keeps well below it.
const maxDisagreement = time.Second

// SystemClock reads the clocks of this machine. Wall is UTC in microseconds.
func SystemClock() Reading {
	id, boot := bootClock()
	return Reading{Wall: time.Now().UTC().Truncate(time.Microsecond), BootID: id, Boot: boot}
}

// stepped returns by how much the wall clock was set forward, or back, since
// an earlier reading; zero when it was not or when nobody can tell.
//
// Across boots nobody can, but a wall clock that lies behind the last write was
// set back: then the system has been running for Boot since, and that much is
// taken to have passed. So what is waited for comes nearer also for those who
// only read, and needs no write for that.
func (r Reading) stepped(since Reading) time.Duration {
	switch {
	case r.BootID == "" || since.BootID == "":
		return 0
	case r.BootID != since.BootID:
		if behind := since.Wall.Sub(r.Wall); behind > maxDisagreement {
			return -behind - r.Boot
		}
		return 0
	case r.Boot < since.Boot:
		return 0
	}
	step := r.Wall.Sub(since.Wall) - (r.Boot - since.Boot)
	if step.Abs() <= maxDisagreement {
		return 0
	}
	return step
}
