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
// order is: time limit, lost output, interruption, codes, output, then
// slowness. A command that died of PIPE because cb could not write what it said
// was stopped by nobody.
func (r Rules) Outcome(end process.Result, found Matches) breaker.Outcome {
	slow := r.SlowAfter > 0 && end.Took > r.SlowAfter
	switch {
	case end.NoFork:
		return breaker.Ignored
	case end.TimedOut:
		return breaker.Failure
	case end.OutputLost != nil && (end.Interrupted == 0 || r.CountInterrupts):
		return breaker.Failure
	case r.interrupted(end):
		if slow {
			return breaker.Slow
		}
		return breaker.Ignored
	}
	outcome := r.byCode(end)
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
// Which of the two makes no difference: whoever stops a run that was slow
// already has waited too long either way.
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

// byCode judges the code. That a command cannot be started is never left to
// the list of failures, which is about what the command says: a program that
// has vanished must not be tried for ever. A shell's 127 is a code like any.
func (r Rules) byCode(end process.Result) breaker.Outcome {
	switch {
	case end.Code == 0 || r.Success.Has(end.Code):
		return breaker.Success
	case r.Ignore.Has(end.Code):
		return breaker.Ignored
	case end.StartErr == nil && len(r.Failure) > 0 && !r.Failure.Has(end.Code):
		return breaker.Ignored
	}
	return breaker.Failure
}
