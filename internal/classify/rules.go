// Package classify decides what the end of a command means for its circuit.
package classify

import (
	"syscall"
	"time"

	"cb/internal/breaker"
	"cb/internal/process"
)

// Rules say which ends of a command are failures. The zero value knows the
// conventions only: 0 is a success, another code is a failure, and a run that
// somebody stopped has no verdict.
type Rules struct {
	Success Codes // successes besides 0
	Ignore  Codes // no verdict
	Failure Codes // when not empty, only these are failures and the others have no verdict
	// SlowAfter makes a run that takes longer a failure; zero turns it off.
	SlowAfter time.Duration
	// FailureOutput makes a run whose output has a matching line a failure,
	// IgnoreOutput takes the verdict from a failing one.
	FailureOutput, IgnoreOutput Pattern
	// CountInterrupts judges a run that was told to stop like any other.
	CountInterrupts bool
}

// Outcome returns what the command's own end means, before any fallback. The
// order is: time limit, interruption, codes, output, then slowness.
func (r Rules) Outcome(end process.Result, found Matches) breaker.Outcome {
	slow := r.SlowAfter > 0 && end.Took > r.SlowAfter
	switch {
	case end.NoFork:
		return breaker.Ignored
	case end.TimedOut:
		return breaker.Failure
	case r.interrupted(end):
		if slow {
			return breaker.Slow
		}
		return breaker.Ignored
	}
	outcome := r.byCode(end.Code)
	if found.Failure {
		outcome = breaker.Failure
	}
	if found.Ignore && outcome == breaker.Failure {
		outcome = breaker.Ignored
	}
	if outcome == breaker.Success && slow {
		return breaker.Slow
	}
	return outcome
}

// interrupted reports whether somebody stopped the run: cb was told to stop,
// or the command died of a signal that people and shells stop commands with.
func (r Rules) interrupted(end process.Result) bool {
	if r.CountInterrupts {
		return false
	}
	switch end.Signal {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE:
		return true
	}
	return end.Interrupted != 0
}

func (r Rules) byCode(code int) breaker.Outcome {
	switch {
	case code == 0 || r.Success.Has(code):
		return breaker.Success
	case r.Ignore.Has(code):
		return breaker.Ignored
	case len(r.Failure) > 0 && !r.Failure.Has(code):
		return breaker.Ignored
	}
	return breaker.Failure
}
