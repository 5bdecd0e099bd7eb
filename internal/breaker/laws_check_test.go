package breaker

import (
	"fmt"
	"slices"
	"time"
)

// broken returns which law the step from one circuit to the next has broken.
// These hold for every step of every circuit, whatever the policies.
func broken(before, after Circuit, now time.Time) error {
	if err := after.Validate(); err != nil {
		return fmt.Errorf("not a valid circuit: %w", err)
	}
	for _, law := range []func(before, after Circuit, now time.Time) error{
		brokenHistory, brokenGeneration, brokenTotals, brokenPeriod, brokenBackoff, brokenState, brokenBounds,
	} {
		if err := law(before, after, now); err != nil {
			return err
		}
	}
	return nil
}

// brokenHistory: states and overrides change along the table of transitions,
// and never without an entry in the history.
func brokenHistory(before, after Circuit, now time.Time) error {
	state, shown := before.State.String(), before.Shown()
	for _, t := range Between(before, after) {
		if !slices.Contains(causes(t.From, t.To), t.Cause) {
			return fmt.Errorf("no transition leads from %s to %s because of %q", t.From, t.To, t.Cause)
		}
		if t.At.After(now) {
			return fmt.Errorf("the transition %+v lies in the future", t)
		}
		if !isState(t.From) || !isState(t.To) {
			if t.From != shown {
				return fmt.Errorf("%s was left, but %s held", t.From, shown)
			}
			shown = t.To
			continue
		}
		if t.From != state {
			return fmt.Errorf("%s was left, but the state was %s", t.From, state)
		}
		if shown == state {
			shown = t.To
		}
		state = t.To
	}
	if state != after.State.String() || shown != after.Shown() {
		return fmt.Errorf("the history ends in %s and %s, the circuit in %s and %s", state, shown, after.State, after.Shown())
	}
	if made := after.Recorded - before.Recorded; made < 0 || made != len(Between(before, after)) {
		return fmt.Errorf("%d transitions are counted, %d are told", made, len(Between(before, after)))
	}
	return nil
}

// isState tells the words of states from those of overrides.
func isState(word string) bool { return new(State).UnmarshalText([]byte(word)) == nil }

// causes returns what may lead from one word to another: the whole table.
func causes(from, to string) []Cause {
	switch from + " " + to {
	case "closed open":
		return []Cause{ByRun, ByOperator}
	case "open half-open":
		return []Cause{ByTimeout}
	case "half-open closed":
		return []Cause{ByProbe, ByOperator}
	case "half-open open":
		return []Cause{ByProbe, ByLost, ByOperator}
	case "closed closed", "open closed", "open open": // reset, reset, trip
		return []Cause{ByOperator}
	}
	switch {
	case from == string(Held) && isState(to):
		return []Cause{ByOperator, ByExpiry}
	case !isState(from), !isState(to):
		return []Cause{ByOperator}
	}
	return nil
}

// brokenGeneration: a generation begins at each entry of the history and at
// the first admission, always upwards; and at no other time.
func brokenGeneration(before, after Circuit, _ time.Time) error {
	last := before.Generation
	for _, t := range Between(before, after) {
		if t.Generation <= last {
			return fmt.Errorf("generation %d follows %d", t.Generation, last)
		}
		last = t.Generation
	}
	if before.Generation != 0 && after.Generation != last {
		return fmt.Errorf("generation %d became %d without a transition", before.Generation, after.Generation)
	}
	return nil
}

// brokenTotals: totals only grow, by one event a step; a trip is closed to
// open and nothing else.
func brokenTotals(before, after Circuit, _ time.Time) error {
	grown := func(t Totals) int { return t.Successes + t.Failures + t.Ignored + t.Late + t.Refused }
	for _, pair := range [][2]int{
		{before.Totals.Successes, after.Totals.Successes},
		{before.Totals.Failures, after.Totals.Failures},
		{before.Totals.Ignored, after.Totals.Ignored},
		{before.Totals.Late, after.Totals.Late},
		{before.Totals.Refused, after.Totals.Refused},
		{before.Totals.Lost, after.Totals.Lost},
	} {
		if pair[1] < pair[0] {
			return fmt.Errorf("totals fell from %+v to %+v", before.Totals, after.Totals)
		}
	}
	if n := grown(after.Totals) - grown(before.Totals); n > 1 {
		return fmt.Errorf("one step counted %d events", n)
	}
	trips, entered := 0, before.Entered
	for _, t := range Between(before, after) {
		if t.From != t.To {
			entered.count(t.To)
		}
		if t.From == Closed.String() && t.To == Open.String() {
			trips++
		}
	}
	if after.Entered != entered {
		return fmt.Errorf("entered are %+v, not %+v", after.Entered, entered)
	}
	if got := after.Totals.Trips - before.Totals.Trips; got != trips {
		return fmt.Errorf("%d trips are counted, %d were made", got, trips)
	}
	return nil
}

// brokenPeriod: the open period is frozen. Only a new one, or a clock that was
// set back, moves its end; and no circuit waits longer than its period.
func brokenPeriod(before, after Circuit, now time.Time) error {
	if after.State != Open {
		return nil
	}
	if after.RetryAt.After(now.Add(after.Period)) {
		return fmt.Errorf("a period of %v ends in %v", after.Period, after.RetryAt.Sub(now))
	}
	if before.State != Open || len(Between(before, after)) > 0 {
		return nil
	}
	want := before.RetryAt
	if latest := now.Add(before.Period); want.After(latest) {
		want = latest
	}
	if !after.RetryAt.Equal(want) || after.Period != before.Period || after.Reopens != before.Reopens {
		return fmt.Errorf("the open period moved: %v after %v, %d re-opens, was %v after %v, %d",
			after.RetryAt, after.Period, after.Reopens, before.RetryAt, before.Period, before.Reopens)
	}
	return nil
}

// brokenBackoff: a failed probe is one step, a close or a trip begins anew,
// and nothing else counts.
func brokenBackoff(before, after Circuit, _ time.Time) error {
	steps := before.Reopens
	for _, t := range Between(before, after) {
		switch {
		case t.From == Closed.String() || t.To == Closed.String():
			if isState(t.From) && isState(t.To) {
				steps = 0
			}
		case t.Cause == ByProbe:
			steps++
		}
	}
	if after.Reopens != steps {
		return fmt.Errorf("%d backoff steps are taken, not %d", after.Reopens, steps)
	}
	return nil
}

// brokenState: each state has its own fields and none of another's.
func brokenState(before, after Circuit, now time.Time) error {
	switch after.State {
	case Closed:
		if after.Reopens != 0 || after.Skipped != 0 || after.Period != 0 || !after.RetryAt.IsZero() || !after.OpenedAt.IsZero() || after.Reason != "" {
			return fmt.Errorf("closed with leftovers of open")
		}
	case Open, HalfOpen:
		if after.Streak != 0 || after.Fresh != 0 {
			return fmt.Errorf("%v with a streak of %d and a window of %d", after.State, after.Streak, after.Fresh)
		}
		if after.OpenedAt.IsZero() || after.RetryAt.IsZero() || after.Period <= 0 {
			return fmt.Errorf("%v without an open period", after.State)
		}
	}
	if after.State != HalfOpen {
		if after.Recovery != (Recovery{}) {
			return fmt.Errorf("%v with recovery numbers", after.State)
		}
		return nil
	}
	if after.Override.Kind != NoOverride {
		return fmt.Errorf("half-open below %s", after.Override.Kind)
	}
	live := 0
	for _, probe := range after.Probes {
		if !probe.Overdue(now) {
			live++
		}
	}
	answered := after.Recovery.Successes + after.Recovery.Failures
	// A clock that was set back can make a probe live again, but lets none start.
	if grew := len(after.Probes) > len(before.Probes); grew && (live > after.Recovery.Probes || live+answered > after.Recovery.Answers) {
		return fmt.Errorf("%d live probes and %d answers, allowed are %+v", live, answered, after.Recovery)
	}
	return nil
}

// brokenBounds: what a circuit keeps has a bound, its order, and no future.
func brokenBounds(before, after Circuit, now time.Time) error {
	if len(after.Calls) > MaxOutcomes || len(after.History) > maxHistory {
		return fmt.Errorf("%d outcomes and %d transitions are kept", len(after.Calls), len(after.History))
	}
	if !slices.IsSortedFunc(after.Calls, func(a, b Call) int { return a.At.Compare(b.At) }) ||
		!slices.IsSortedFunc(after.History, func(a, b Transition) int { return a.At.Compare(b.At) }) {
		return fmt.Errorf("outcomes or transitions are out of order")
	}
	overdue := 0
	for _, probe := range after.Probes {
		if probe.Overdue(now) {
			overdue++
		}
	}
	if len(after.Probes) > len(before.Probes) && overdue > maxOverdue {
		return fmt.Errorf("%d overdue probes are listed", overdue)
	}
	if after.LastEvent().After(now) {
		return fmt.Errorf("something happened in the future")
	}
	if after.Streak > after.Totals.Failures {
		return fmt.Errorf("a streak of %d with %d failures", after.Streak, after.Totals.Failures)
	}
	return nil
}

// stuck returns why a circuit would never close although all runs from now on
// succeed. It lifts an override, asks, waits for what is due, and asks again
// and again; the runs that are under way never answer.
func stuck(c Circuit, p Policy, now time.Time) error {
	if c.Override.Kind != NoOverride {
		c = c.Enable(Order{At: now, Seed: 1})
	}
	c, permit, err := c.Admit(p, now, Caller{Leased: true}, 2)
	if err == nil {
		c = c.Record(p, permit, Call{At: now, Outcome: Success}, 3)
	}
	wait := c.Period
	for _, probe := range c.Probes {
		wait = max(wait, probe.Deadline.Sub(now))
	}
	if c.State != Closed {
		now = now.Add(wait)
	}
	for i := range uint64(MaxOutcomes) {
		next, permit, err := c.Admit(p, now, Caller{Leased: true}, i)
		if err != nil {
			return fmt.Errorf("stuck: after %v, and %d successes: %w", wait, i, err)
		}
		c = next.Record(p, permit, Call{At: now, Outcome: Success}, i)
		if c.State == Closed {
			return nil
		}
	}
	return fmt.Errorf("stuck: it does not close")
}
