package breaker

import (
	"testing"
	"time"
)

// Across a restart only the wall clock counts ("-24h", "+24h"); in the same
// boot the store notices a step of it ("step:-24h").

func TestClockSetBack(t *testing.T) {
	tell(t,
		story{"delays a probe by one period at most", "F F F +59s -24h X retry=60s +60s S =closed"},
		story{"each time", "F F F -24h X +59s -24h X retry=60s +60s S =closed"},
		story{"also a board that boots into 1970", "F F F -450000h X retry=60s +60s S =closed"},
		story{"a shorter rest stays as it is", "F F F +10s -5s X retry=55s"},
		story{"a hold lasts no longer than it was given", "hold:10m -24h X +10m S =closed"},
		story{"a probe keeps its limit", "{probe-limit=5m} F F F +60s a( -24h X:probe +5m b("},
		story{"a lost one keeps its period", "F F F +60s a( a! -24h X:open retry=60s"},
		story{"no failure is forgotten", "F F -24h streak=2 F =open"},
		story{"a window keeps its outcomes", "{window=10m,threshold=3} F F -24h F =open"},
		story{"and drops them in time", "{window=10m,threshold=3} F F -24h S +10m F =closed window=1/1"},
		story{"a failure does not stay young for a day", "{failure-ttl=1h} F F -24h S F +61m F =closed streak=1"},
		story{"the result of a run counts", "F F a( -24h a)F =open retry=60s"},
	)
}

func TestClockSetForward(t *testing.T) {
	tell(t,
		story{"may allow a probe early", "F F F +24h S =closed"},
		story{"never a close", "F F F +24h =open F =open"},
		story{"and back again: one period at most", "F F F +24h F -24h X retry=60s +60s S =closed"},
	)
}

func TestClockSteps(t *testing.T) {
	tell(t,
		story{"back 24h in the same boot: admitted after 60s of real time", "F F F +30s step:-24h X retry=30s +30s S =closed"},
		story{"forward 24h in the same boot: still refused", "F F F +30s step:+24h X retry=30s +29s X +1s S =closed"},
		story{"drops no outcome from a window", "{window=10m,threshold=3} F +1m F step:+24h F =open"},
		story{"and keeps none too long", "{window=10m,threshold=3} F F step:-24h +10m F =closed window=1/1"},
		story{"a failure does not age by it", "{failure-ttl=1h} F F step:+24h F =open"},
		story{"a hold neither", "hold:10m step:+24h X +10m S"},
		story{"a probe is not overdue by it", "{probe-limit=5m} F F F +60s a( step:+24h X:probe +5m b("},
		story{"a lost probe keeps its period", "F F F +60s a( +10s a! step:+24h X retry=50s"},
		story{"a closed circuit that has seen nothing", "step:+24h =closed S step:-24h S"},
	)
}

// TestShift checks each instant of a circuit that has all of them.
func TestShift(t *testing.T) {
	w := newWorld(t)
	w.order(Circuit.Trip, time.Minute)
	w.observe(Success)
	w.now = w.now.Add(time.Minute)
	w.admit(Default(), Caller{Leased: true})
	c := w.c
	c.Override = Override{Kind: Held, Since: w.now, Until: w.now.Add(time.Hour)}
	c.Calls = []Call{{At: w.now}}
	c.Failed, c.Worked = &Call{At: w.now}, &Call{At: w.now}

	asFound := describe(c)
	moved := c.Shift(time.Hour)
	for name, pair := range map[string][2]time.Time{
		"Since":      {c.Since, moved.Since},
		"OpenedAt":   {c.OpenedAt, moved.OpenedAt},
		"RetryAt":    {c.RetryAt, moved.RetryAt},
		"StartedAt":  {c.Probes[0].StartedAt, moved.Probes[0].StartedAt},
		"Deadline":   {c.Probes[0].Deadline, moved.Probes[0].Deadline},
		"Override":   {c.Override.Since, moved.Override.Since},
		"Until":      {c.Override.Until, moved.Override.Until},
		"Calls":      {c.Calls[0].At, moved.Calls[0].At},
		"History":    {c.History[0].At, moved.History[0].At},
		"Failed":     {c.Failed.At, moved.Failed.At},
		"Worked":     {c.Worked.At, moved.Worked.At},
		"LastEvent":  {c.LastEvent(), moved.LastEvent()},
		"historyEnd": {c.History[1].At, moved.History[1].At},
	} {
		if pair[0].IsZero() || pair[1].Sub(pair[0]) != time.Hour {
			t.Errorf("%s moved from %v to %v", name, pair[0], pair[1])
		}
	}
	if describe(c) != asFound {
		t.Error("Shift changed its receiver")
	}
	if back := moved.Shift(-time.Hour); describe(back) != asFound {
		t.Errorf("there and back again is\n%s\nwas %s", describe(back), asFound)
	}
	if never := (Circuit{}).Shift(time.Hour); describe(never) != describe(Circuit{}) {
		t.Errorf("a circuit without instants became %s", describe(never))
	}
}

func TestProbeDue(t *testing.T) {
	w := newWorld(t)
	if w.c.ProbeDue(w.now) {
		t.Error("closed, but a probe is due")
	}
	w.order(Circuit.Trip, time.Minute)
	if w.c.ProbeDue(w.now.Add(time.Minute-1)) || !w.c.ProbeDue(w.now.Add(time.Minute)) {
		t.Error("a probe is due at the end of the open period, not before")
	}
}
