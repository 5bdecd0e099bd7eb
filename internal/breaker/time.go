package breaker

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// At returns the circuit as it stands at an instant when only time has passed:
// instants that lie in the future are clamped, and a hold whose end has come
// is lifted (the new generation is drawn from seed). The state is the same.
func (c Circuit) At(now time.Time, seed uint64) Circuit {
	next := c.clamped(now)
	if until := next.Override.Until; !until.IsZero() && !now.Before(until) {
		d := draw(^seed)
		next.setOverride(Override{}, Transition{At: until, Cause: ByExpiry, Code: NoCode}, &d)
	}
	return next
}

// LastEvent returns when something last happened to the circuit; the zero time
// when nothing has.
func (c Circuit) LastEvent() time.Time {
	var last time.Time
	next := c.clone()
	next.instants(func(at time.Time) time.Time {
		if at.After(last) {
			last = at
		}
		return at
	})
	return last
}

// Found returns the circuit as an admission at an instant finds it, for those
// who only look: as At does, and dead probes have left, which may have opened
// it again. Only an admission makes that last; its transition, generation and
// count are not there before.
func (c Circuit) Found(now time.Time) Circuit {
	next := c.At(now, 0)
	reaped := next.clone()
	d := draw(0)
	reaped.reap(now, &d)
	reaped.Generation, reaped.History, reaped.Totals = next.Generation, next.History, next.Totals
	reaped.Recorded, reaped.Entered = next.Recorded, next.Entered
	if reaped.State != next.State {
		reaped.Since = reaped.RetryAt.Add(-reaped.Period)
	}
	return reaped
}

// ProbeDue reports whether a circuit that is not closed would let a probe
// through, if no override were in the way.
func (c Circuit) ProbeDue(now time.Time) bool {
	return c.State == Open && !now.Before(c.RetryAt) || c.State == HalfOpen && c.slots(now) > 0
}

// SlotAt returns when a half-open circuit whose probes are taken has a slot
// again at the latest, because its probes are overdue then; zero for any other.
func (c Circuit) SlotAt(now time.Time) time.Time {
	var first time.Time
	if c.State != HalfOpen || c.slots(now) > 0 {
		return first
	}
	for _, probe := range c.Probes {
		if end := probe.Deadline; c.slots(end) > 0 && (first.IsZero() || end.Before(first)) {
			first = end
		}
	}
	return first
}

// clamped returns a copy in which no past event lies in the future and nothing
// lasts longer than was drawn for it. Only a wall clock that was set back
// across a restart makes a difference; it must delay a probe by no more than
// one open period.
func (c Circuit) clamped(now time.Time) Circuit {
	next := c.clone()
	next.instants(func(at time.Time) time.Time {
		if at.After(now) {
			return now
		}
		return at
	})
	if next.RetryAt.After(now.Add(next.Period)) {
		next.RetryAt = now.Add(next.Period)
	}
	for i := range next.Probes {
		// A probe that started "later" starts now and keeps its limit.
		probe := &next.Probes[i]
		probe.Deadline = probe.StartedAt.Add(c.Probes[i].Deadline.Sub(c.Probes[i].StartedAt))
	}
	if until := c.Override.Until; !until.IsZero() {
		next.Override.Until = next.Override.Since.Add(until.Sub(c.Override.Since))
	}
	return next
}

// Shift moves all instants by d: the store's answer to a wall clock that
// stepped while the boot clock did not.
func (c Circuit) Shift(d time.Duration) Circuit {
	next := c.clone()
	move := func(at time.Time) time.Time { return at.Add(d) }
	next.instants(move)
	if !next.RetryAt.IsZero() {
		next.RetryAt = move(next.RetryAt)
	}
	for i := range next.Probes {
		next.Probes[i].Deadline = move(next.Probes[i].Deadline)
	}
	if !next.Override.Until.IsZero() {
		next.Override.Until = move(next.Override.Until)
	}
	return next
}

// instants applies f to every instant at which something happened, as against
// those at which something is due.
func (c *Circuit) instants(f func(time.Time) time.Time) {
	apply := func(at *time.Time) {
		if !at.IsZero() {
			*at = f(*at)
		}
	}
	apply(&c.Since)
	apply(&c.OpenedAt)
	apply(&c.Override.Since)
	for i := range c.Probes {
		apply(&c.Probes[i].StartedAt)
	}
	for i := range c.Calls {
		apply(&c.Calls[i].At)
	}
	for i := range c.History {
		apply(&c.History[i].At)
	}
	for _, call := range []*Call{c.Failed, c.Worked} {
		if call != nil {
			apply(&call.At)
		}
	}
}

// clone returns a copy that shares no memory.
func (c Circuit) clone() Circuit {
	c.Probes = slices.Clone(c.Probes)
	c.Calls = slices.Clone(c.Calls)
	c.History = slices.Clone(c.History)
	c.Used = slices.Clone(c.Used)
	if c.Failed != nil {
		failed := *c.Failed
		c.Failed = &failed
	}
	if c.Worked != nil {
		worked := *c.Worked
		c.Worked = &worked
	}
	return c
}

// Validate returns an error when the circuit cannot have been written by this
// package: the mark of a damaged file.
func (c Circuit) Validate() error {
	if c.Period < 0 || c.Keep.Span < 0 {
		return errors.New("a duration is negative")
	}
	for _, n := range []int{
		c.Streak, c.Fresh, c.Reopens, c.Skipped, c.Recorded, c.Keep.Calls,
		c.Totals.Successes, c.Totals.Failures, c.Totals.Ignored, c.Totals.Late,
		c.Totals.Lost, c.Totals.Refused, c.Totals.Trips,
		c.Entered.Closed, c.Entered.Open, c.Entered.HalfOpen, c.Entered.Held, c.Entered.Disabled,
	} {
		if n < 0 {
			return errors.New("a count is negative")
		}
	}
	switch {
	case c.Fresh > len(c.Calls):
		return errors.New("the window is larger than the outcomes")
	case len(c.Calls) > MaxOutcomes || len(c.History) > maxHistory || len(c.Used) > maxUsed ||
		len(c.Probes) > MaxOutcomes+maxOverdue:
		return errors.New("too many entries")
	case c.Generation >= 1<<53:
		return errors.New("generation is out of range")
	case c.Override.Kind != NoOverride && c.Override.Kind != Held && c.Override.Kind != Disabled:
		return fmt.Errorf("unknown override %q", c.Override.Kind)
	case c.State != HalfOpen && len(c.Probes) > 0:
		return fmt.Errorf("a %s circuit lists probes", c.State)
	}
	if c.State == HalfOpen {
		return c.Recovery.validate()
	}
	return nil
}
