package breaker

import (
	"slices"
	"strings"
	"time"
)

// Order is a manual command: who gives it, when and why.
type Order struct {
	At     time.Time
	By     string // of both texts maxText bytes are kept
	Reason string
	For    time.Duration // how long it lasts; zero: until it is undone or, for a trip, Timeout
	Seed   uint64        // randomness, as in Admit

	// Timeout is that of a trip without For; zero: of the policy last used.
	Timeout time.Duration
}

// maxText bounds what people write into a circuit, in bytes: a hundred reasons
// have to fit into it.
const maxText = 300

// short returns the order with its texts cut to their bound, between two characters.
func (o Order) short() Order {
	for _, text := range []*string{&o.By, &o.Reason} {
		if len(*text) > maxText {
			*text = strings.ToValidUTF8((*text)[:maxText], "") + "…"
		}
	}
	return o
}

func (o Order) transition() Transition {
	return Transition{At: o.At, Cause: ByOperator, By: o.By, Reason: o.Reason, Code: NoCode}
}

// Trip opens the circuit by hand; it recovers as usual, after o.For or the
// timeout. An open circuit starts a new open period.
func (c Circuit) Trip(o Order) Circuit {
	o = o.short()
	next, d := c.At(o.At, o.Seed), draw(o.Seed)
	period := o.For
	if period == 0 {
		policy := next.usedPolicy()
		if o.Timeout > 0 {
			policy.Timeout = o.Timeout
		}
		period = policy.period(0, &d)
	}
	why := o.transition()
	next.open(period, o.At, why, &d)
	next.Reason = "tripped by hand"
	if o.Reason != "" {
		next.Reason += ": " + o.Reason
	}
	return next
}

// Reset closes the circuit and forgets its streak and window. Totals, history
// and an override stay: a hold has its own end, Enable. A closed circuit that
// has no failure to forget keeps its generation and history: running commands
// must not be late for nothing.
func (c Circuit) Reset(o Order) Circuit {
	o = o.short()
	next, d := c.At(o.At, o.Seed), draw(o.Seed)
	next.Keep = Retention{}.widen(next.Policy)
	if _, failures := next.Window(Policy{}, o.At); next.State == Closed && next.Streak == 0 && failures == 0 {
		next.Fresh = 0
		return next
	}
	next.move(Closed, o.transition(), &d)
	return next
}

// Hold refuses every run until Enable, or for o.For. A circuit that is held
// keeps its reason when o brings none; one for which nothing would change is
// returned as it is.
func (c Circuit) Hold(o Order) Circuit {
	o = o.short()
	override := Override{Kind: Held, Reason: o.Reason, By: o.By, Since: o.At}
	if o.For > 0 {
		override.Until = o.At.Add(o.For)
	}
	return c.override(override, o)
}

// Disable permits every run and freezes the circuit until Enable. It keeps a
// reason as Hold does.
func (c Circuit) Disable(o Order) Circuit {
	o = o.short()
	return c.override(Override{Kind: Disabled, Reason: o.Reason, By: o.By, Since: o.At}, o)
}

// Enable lifts a hold or a disable. The automatic state below was kept.
func (c Circuit) Enable(o Order) Circuit { return c.override(Override{}, o.short()) }

func (c Circuit) override(to Override, o Order) Circuit {
	next, d := c.At(o.At, o.Seed), draw(o.Seed)
	now := next.Override
	if to.Kind == now.Kind && to.Reason == "" {
		to.Reason = now.Reason
	}
	if to.Kind == now.Kind && to.Reason == now.Reason && to.Until.Equal(now.Until) {
		return next // a new generation would make running commands late for nothing
	}
	why := o.transition()
	if to.Reason != "" {
		why.Reason = to.Reason
	}
	next.setOverride(to, why, &d)
	return next
}

// setOverride changes the manual layer. Half-open cannot be kept below it, for
// its probes' results are late from here on: it becomes open with the probe due.
func (c *Circuit) setOverride(to Override, why Transition, d *draw) {
	if c.State == HalfOpen {
		opened := c.Reason // nobody has tripped it now
		ended := Transition{At: why.At, Cause: why.Cause, By: why.By, Reason: endedBy(to.Kind), Code: NoCode}
		c.open(c.Period, why.At.Add(-c.Period), ended, d)
		c.Reason = opened
	}
	why.From = c.Shown()
	c.Override = to
	why.To = c.Shown()
	c.enter(why, d)
}

// endedBy is the reason for which an override ends the probing.
func endedBy(kind OverrideKind) string { return string(kind) + " while probing" }

// LastTrip returns the last transition by which the circuit was tripped, by a
// run or by hand, as far as its history reaches. An open circuit that was
// tripped by hand has a new one; a probe that failed is none.
func (c Circuit) LastTrip() (Transition, bool) {
	for _, t := range slices.Backward(c.History) {
		byHand := t.Cause == ByOperator && t.Reason != endedBy(Held) && t.Reason != endedBy(Disabled)
		if t.To == Open.String() && (byHand || t.From == Closed.String()) {
			return t, true
		}
	}
	return Transition{}, false
}

// Shown returns the word for what holds now: the override's, else the state's.
func (c Circuit) Shown() string {
	if c.Override.Kind != NoOverride {
		return string(c.Override.Kind)
	}
	return c.State.String()
}

// usedPolicy returns the policy last used, or the default of a circuit that
// has not been used.
func (c *Circuit) usedPolicy() Policy {
	if c.Policy == (Policy{}) {
		return Default()
	}
	return c.Policy
}

// Between returns the transitions that lead from one circuit to the next,
// oldest first. They are derived by comparing, so none is forgotten or told
// twice. At most maxHistory are known.
func Between(before, after Circuit) []Transition {
	made := min(after.Recorded-before.Recorded, len(after.History))
	if made <= 0 {
		return nil
	}
	return after.History[len(after.History)-made:]
}
