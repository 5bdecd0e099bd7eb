package breaker

import (
	"errors"
	"slices"
	"time"
)

// Recovery is the progress of a half-open circuit.
type Recovery struct {
	Probes    int `json:"probes"`    // allowed at the same time
	Needed    int `json:"needed"`    // successes that close
	Answers   int `json:"answers"`   // asked at the most
	Successes int `json:"successes"` // so far
	Failures  int `json:"failures"`  // so far
}

// ProbeLost is the Reason of a circuit that opened again because a probe died.
const ProbeLost = "probe lost"

// Lose marks a listed probe as dead: its process is gone and will not answer.
// The next admission draws the consequences.
func (c Circuit) Lose(token string) Circuit {
	next := c.clone()
	for i := range next.Probes {
		if next.Probes[i].Token == token {
			next.Probes[i].lost = true
		}
	}
	return next
}

// answer enters the outcome of a probe.
func (c *Circuit) answer(p Policy, permit Permit, call Call, d *draw) {
	listed := slices.IndexFunc(c.Probes, func(probe Probe) bool { return probe.Token == permit.Probe })
	if listed < 0 {
		c.Totals.Late++
		return
	}
	c.Probes = slices.Delete(c.Probes, listed, listed+1)
	c.Totals.count(call.Outcome)
	if call.Outcome == Ignored {
		return
	}
	c.note(call)
	why := Transition{At: call.At, Cause: ByProbe, Code: call.Code}
	if call.Outcome.Failed() {
		c.Recovery.Failures++
	} else {
		c.Recovery.Successes++
	}
	switch {
	case c.Recovery.Successes >= c.Recovery.Needed:
		why.Reason = "probe succeeded"
		if c.Recovery.Needed > 1 {
			why.Reason = plural(c.Recovery.Successes, "probe") + " succeeded"
		}
		c.move(Closed, why, d)
	case c.Recovery.Failures > c.Recovery.Answers-c.Recovery.Needed:
		why.Reason = "probe failed"
		if c.Recovery.Failures > 1 {
			why.Reason = plural(c.Recovery.Failures, "probe") + " failed"
		}
		c.Reopens++
		c.open(p.period(c.Reopens, d), call.At, why, d)
	}
}

// reap takes the dead off the list of probes. When one of them still held its
// slot, or nobody probes in its place and its period is not over, it is lost:
// the circuit re-opens for the period that was drawn when the probing began,
// counted from the start of the last one lost, without a backoff step.
func (c *Circuit) reap(now time.Time, d *draw) {
	var from time.Time
	held := false
	c.Probes = slices.DeleteFunc(c.Probes, func(probe Probe) bool {
		if !probe.lost {
			return false
		}
		c.Totals.Lost++
		held = held || !probe.Overdue(now)
		if probe.StartedAt.After(from) {
			from = probe.StartedAt
		}
		return true
	})
	if held || !from.IsZero() && c.live(now) == 0 && now.Before(from.Add(c.Period)) {
		c.open(c.Period, from, Transition{At: now, Cause: ByLost, Reason: ProbeLost, Code: NoCode}, d)
	}
}

// live returns how many probes hold a slot.
func (c *Circuit) live(now time.Time) int {
	live := 0
	for _, probe := range c.Probes {
		if !probe.Overdue(now) {
			live++
		}
	}
	return live
}

// forgetOverdue keeps the list of probes short where no lease tells of their
// end and they never answer.
func (c *Circuit) forgetOverdue(now time.Time) {
	excess := len(c.Probes) - c.live(now) - maxOverdue
	c.Probes = slices.DeleteFunc(c.Probes, func(probe Probe) bool {
		forget := excess > 0 && probe.Overdue(now)
		if forget {
			excess--
		}
		return forget
	})
}

// slots returns how many more probes may start now.
func (c *Circuit) slots(now time.Time) int {
	live := c.live(now)
	answered := c.Recovery.Successes + c.Recovery.Failures
	return max(0, min(c.Recovery.Probes-live, c.Recovery.Answers-live-answered))
}

// runsUnder reports whether one of the tokens is a live probe's.
func (c *Circuit) runsUnder(tokens []string) bool {
	return slices.ContainsFunc(c.Probes, func(probe Probe) bool {
		return !probe.lost && slices.Contains(tokens, probe.Token)
	})
}

func newProbe(p Policy, now time.Time, who Caller, d *draw) Probe {
	limit := p.ProbeLimit
	if limit == 0 {
		limit = defaultProbeLimit
	}
	return Probe{
		Token: d.token(), StartedAt: now, Deadline: now.Add(limit),
		PID: who.PID, Host: who.Host, Leased: who.Leased,
	}
}

func (r Recovery) validate() error {
	if r.Probes < 1 || r.Needed < 1 || r.Answers < r.Needed || r.Successes < 0 || r.Failures < 0 ||
		r.Successes >= r.Needed || r.Failures > r.Answers-r.Needed {
		return errors.New("half-open without possible recovery numbers")
	}
	return nil
}
