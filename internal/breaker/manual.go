package breaker

import (
	"strings"
	"time"
)

// Order is a manual command: who gives it, when and why.
type Order struct {
	At     time.Time
	By     string // of both texts maxText bytes are kept
	Reason string
	For    time.Duration // how long it lasts; zero: until it is undone or, for a trip, the policy's timeout
	Seed   uint64        // randomness, as in Admit
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
// timeout of the policy last used. An open circuit starts a new open period.
func (c Circuit) Trip(o Order) Circuit {
	o = o.short()
	next, d := c.At(o.At, o.Seed), draw(o.Seed)
	period := o.For
	if period == 0 {
		period = next.usedPolicy().period(0, &d)
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
// and an override stay: a hold has its own end, Enable.
func (c Circuit) Reset(o Order) Circuit {
	o = o.short()
	next, d := c.At(o.At, o.Seed), draw(o.Seed)
	next.move(Closed, o.transition(), &d)
	next.Keep = Retention{}.widen(next.Policy)
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
		c.open(c.Period, why.At.Add(-c.Period), Transition{At: why.At, Cause: why.Cause, By: why.By, Reason: c.Reason, Code: NoCode}, d)
	}
	why.From = c.Shown()
	c.Override = to
	why.To = c.Shown()
	c.enter(why, d)
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
