// Package guard puts a run through its circuit: the order of effects, and
// nothing more. The lock of the store is never held while the command runs.
package guard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cb/internal/breaker"
)

// Store is what a guard needs of a store.
type Store interface {
	// Update replaces a circuit by what f makes of it, atomically. An error of
	// f or of the store means that nothing was written.
	Update(ctx context.Context, name string, f func(c breaker.Circuit, now time.Time) (breaker.Circuit, error)) error
	// Read returns a circuit without a lock.
	Read(name string) (c breaker.Circuit, now time.Time, found bool, err error)
}

// Guard is one run of one command through the circuit of that name.
type Guard struct {
	Store  Store
	Name   string
	Policy breaker.Policy
	Caller breaker.Caller
	Seed   func() uint64
	// MustRecord refuses the run when the store cannot be used; otherwise the
	// run goes on without a permit.
	MustRecord bool
	// Permitted, when not nil, is called as soon as the run is permitted and
	// before anything is written: from here on it must not be cut short. It may
	// be called again when the store has to decide anew.
	Permitted func()
	// Command runs the command and tells what its end means. Its instant is
	// set by the store.
	Command func(Admission) breaker.Call
	// Judge, when not nil, completes a call once the store has dated it.
	Judge func(breaker.Call) breaker.Call
	// Changed is told the circuit before and after each update, once the lock
	// is free and the state is in place.
	Changed func(before, after breaker.Circuit, now time.Time)
	// Warn is told of trouble with the store and of what follows from it.
	Warn func(trouble error, consequence string)
}

// Admission is what the circuit said to a run that it let through.
type Admission struct {
	Permit breaker.Permit
	State  breaker.State // Closed or HalfOpen, as the command is told
	// Unrecorded says that the store could not be used and no result will be kept.
	Unrecorded bool
}

// StoreError says that the store could not be used and so the command was not run.
type StoreError struct{ Err error }

// Error is the store's own error.
func (e *StoreError) Error() string { return e.Err.Error() }

// Unwrap returns it.
func (e *StoreError) Unwrap() error { return e.Err }

// Run admits, runs and records. An error means that the command did not run:
// *breaker.OpenError when the circuit refused, *StoreError when its state
// could not be kept and MustRecord is set, or the context's. Once the command
// has run its result stands, and trouble is a warning.
func (g Guard) Run(ctx context.Context) error {
	admission, err := g.Admit(ctx)
	if err != nil {
		return err
	}
	call := g.Command(admission)
	if !admission.Unrecorded {
		g.Record(context.WithoutCancel(ctx), admission.Permit, call)
	}
	return nil
}

// Admit asks the circuit for leave to run. Its errors are those of Run.
func (g Guard) Admit(ctx context.Context) (Admission, error) {
	var answer error
	var admission Admission
	var before, after breaker.Circuit
	var at time.Time
	err := g.Store.Update(ctx, g.Name, func(c breaker.Circuit, now time.Time) (breaker.Circuit, error) {
		before, at = c, now
		after, admission.Permit, answer = c.Admit(g.Policy, now, g.Caller, g.Seed())
		if answer == nil {
			g.permitted()
		}
		return after, nil
	})
	if err != nil {
		return g.withoutStore(ctx, err)
	}
	g.Changed(before, after, at)
	if answer != nil {
		return Admission{}, answer
	}
	if after.State == breaker.HalfOpen {
		admission.State = breaker.HalfOpen
	}
	return admission, nil
}

// withoutStore decides about a run whose admission could not be written: a
// circuit that can be read and still refuses is obeyed; else cb must not be
// the outage itself.
func (g Guard) withoutStore(ctx context.Context, trouble error) (Admission, error) {
	if err := ctx.Err(); err != nil {
		return Admission{}, fmt.Errorf("ask circuit %q: %w", g.Name, context.Cause(ctx))
	}
	if c, now, found, err := g.Store.Read(g.Name); err == nil && found {
		_, _, answer := c.Admit(g.Policy, now, g.Caller, g.Seed())
		var refused *breaker.OpenError
		if errors.As(answer, &refused) && refused.Refusal != breaker.RefusedProbe {
			g.Warn(trouble, "the circuit is obeyed as it was last saved")
			return Admission{}, refused
		}
	}
	if g.MustRecord {
		return Admission{}, &StoreError{trouble}
	}
	g.permitted()
	g.Warn(trouble, "the command runs without its circuit")
	return Admission{Unrecorded: true}, nil
}

func (g Guard) permitted() {
	if g.Permitted != nil {
		g.Permitted()
	}
}

// Record enters the outcome of a permitted run, with one retry. What cannot be
// saved is a warning.
func (g Guard) Record(ctx context.Context, permit breaker.Permit, call breaker.Call) {
	g.enter(ctx, call, func(c breaker.Circuit, call breaker.Call) breaker.Circuit {
		return c.Record(g.Policy, permit, call, g.Seed())
	})
}

// Observe enters an outcome that was seen elsewhere; else it is as Record.
func (g Guard) Observe(ctx context.Context, call breaker.Call) {
	g.enter(ctx, call, func(c breaker.Circuit, call breaker.Call) breaker.Circuit {
		return c.Observe(call, g.Seed())
	})
}

func (g Guard) enter(ctx context.Context, call breaker.Call, record func(breaker.Circuit, breaker.Call) breaker.Circuit) {
	var before, after breaker.Circuit
	var at time.Time
	update := func(c breaker.Circuit, now time.Time) (breaker.Circuit, error) {
		dated := call
		dated.At = now
		if g.Judge != nil {
			dated = g.Judge(dated)
		}
		before, after, at = c, record(c, dated), now
		return after, nil
	}
	err := g.Store.Update(ctx, g.Name, update)
	if err != nil {
		err = g.Store.Update(ctx, g.Name, update)
	}
	if err != nil {
		g.Warn(err, "the command's result stands")
		return
	}
	g.Changed(before, after, at)
}
