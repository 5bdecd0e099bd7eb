package breaker

import "time"

// open moves to Open for a period that counts from an instant.
func (c *Circuit) open(period time.Duration, from time.Time, why Transition, d *draw) {
	c.Reason, c.Period, c.RetryAt = why.Reason, period, from.Add(period)
	c.move(Open, why, d)
}

// move is the only place where the state is assigned. It starts a generation,
// writes history, and clears what the new state must not inherit.
func (c *Circuit) move(to State, why Transition, d *draw) {
	from := c.State
	why.From, why.To = from.String(), to.String()
	c.enter(why, d)
	c.State, c.Since = to, why.At
	c.Probes = nil
	if to != HalfOpen {
		c.Recovery = Recovery{}
	}
	if from == Closed || to == Closed {
		c.Streak, c.Fresh, c.Reopens, c.Skipped = 0, 0, 0, 0
	}
	switch {
	case to == Closed:
		c.Reason, c.Period, c.RetryAt, c.OpenedAt = "", 0, time.Time{}, time.Time{}
	case from == Closed:
		c.OpenedAt = why.At
		c.Totals.Trips++
	}
}

// enter starts a generation with an entry in the history.
func (c *Circuit) enter(why Transition, d *draw) {
	c.advance(d)
	why.Generation, why.Streak, why.Refused = c.Generation, c.Streak, c.Totals.Refused
	c.History = append(c.History, why)
	c.History = c.History[max(0, len(c.History)-maxHistory):]
	c.Recorded++
	if why.From != why.To {
		c.Entered.count(why.To)
	}
}

// How much a circuit keeps of what could grow for ever.
const (
	maxHistory = 100 // transitions
	maxUsed    = 100 // tickets
	maxOverdue = 100 // probes that hold no slot
)

// advance starts a generation: a random step upwards, so that a permit issued
// by a history that was lost (a failover, a deleted file) does not fit into
// another one by accident. Below 2^53, which JSON readers hold exactly.
func (c *Circuit) advance(d *draw) {
	c.Used = nil // an older generation is late anyway
	c.Generation = (c.Generation+1+d.next()%(1<<20))%(1<<53-1) + 1
}
