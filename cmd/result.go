package cmd

import (
	"syscall"
	"time"

	"cb/internal/breaker"
	"cb/internal/notify"
	"cb/internal/store"
)

// report writes the result file, last.
func (r *run) report() {
	if r.opts.resultFile == "" {
		return
	}
	if err := notify.WriteFile(r.opts.resultFile, 0, r.summary().Write); err != nil {
		r.env.warn("cannot write the result to " + r.opts.resultFile + " (" + store.Cause(err) + ")")
	}
}

// summary is the run as the result file tells it.
func (r *run) summary() notify.Result {
	ran := r.result.Started
	told := notify.Result{
		Name: r.opts.name, Ran: ran, Refused: r.refused != nil, Reason: known(r.notRun), Probe: r.probe,
		ExitCode: r.own.code, Signal: number(r.own.signal), Warnings: r.env.warnings,
	}
	if ran {
		told.Seconds = new(r.result.Took.Seconds())
	}
	if r.ran {
		told.Outcome = new(r.outcome.String())
	}
	switch {
	case r.seen:
		told.StateBefore, told.StateAfter = new(r.before.Shown()), new(r.after.Shown())
		if r.after.State == breaker.Open {
			told.RetryAt = instant(r.after.RetryAt)
		}
	case r.refused != nil: // the circuit could be read, but not be saved
		told.StateBefore, told.StateAfter = new(r.refused.Circuit.Shown()), new(r.refused.Circuit.Shown())
	}
	if r.refused != nil {
		told.RetryAt = instant(r.refused.RetryAt)
	}
	if r.stood != nil {
		told.Fallback = &notify.Fallback{Kind: r.stood.kind, ExitCode: r.stood.result.Code}
	}
	return told
}

// The functions below turn what is not there into JSON's null.

func known(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func number(signal syscall.Signal) *int {
	if signal == 0 {
		return nil
	}
	return new(int(signal))
}

func instant(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return new(at.UTC())
}
