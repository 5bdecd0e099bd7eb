package breaker_test

import (
	"testing"
	"time"

	"cb/internal/breaker"
)

// TestEntriesCountWhatWasEntered goes through every state and override once,
// and does what changes nothing between.
func TestEntriesCountWhatWasEntered(t *testing.T) {
	now := time.Date(2026, 3, 1, 14, 0, 0, 0, time.UTC)
	order := func() breaker.Order { return breaker.Order{At: now, By: "alice", Seed: 1} }
	policy := breaker.Default()
	policy.Threshold = 1
	run := func(c breaker.Circuit, outcome breaker.Outcome) breaker.Circuit {
		t.Helper()
		c, permit, err := c.Admit(policy, now, breaker.Caller{}, 2)
		if err != nil {
			t.Fatal(err)
		}
		return c.Record(policy, permit, breaker.Call{At: now, Outcome: outcome}, 3)
	}
	c := run(breaker.Circuit{}, breaker.Success).Reset(order())
	if c.Recorded != 0 {
		t.Errorf("a reset that changed nothing: %d transitions", c.Recorded)
	}
	c.Streak = 1
	c = c.Reset(order()) // closed already
	if c.Entered != (breaker.Entries{}) || c.Recorded != 1 {
		t.Errorf("a reset that changed no state: %+v of %d", c.Entered, c.Recorded)
	}
	c = run(c, breaker.Failure) // open
	c = c.Trip(order())         // open already
	now = now.Add(policy.Timeout)
	c = run(c, breaker.Success)            // half-open, closed
	c = c.Hold(order()).Enable(order())    // held, closed
	c = c.Disable(order()).Enable(order()) // disabled, closed
	want := breaker.Entries{Closed: 3, Open: 1, HalfOpen: 1, Held: 1, Disabled: 1}
	if c.Entered != want {
		t.Errorf("entered %+v, want %+v", c.Entered, want)
	}
	if c.Entered.HalfOpen = -1; c.Validate() == nil {
		t.Error("a negative count is valid")
	}
}
