package breaker

import (
	"testing"
	"time"
)

// One test for each manual command.

func TestTrip(t *testing.T) {
	tell(t,
		story{"opens for the timeout last used", "{timeout=7m} S trip told=closed>open =open retry=7m why=tripped_by_hand:_a_reason trips=1"},
		story{"of a circuit that was never used, for the default", "trip retry=5m +5m S =closed"},
		story{"--for takes that long", "S trip:2h +1h59m59s X +1s S =closed"},
		story{"then it recovers as usual", "{backoff=2} S trip:2h +2h F retry=120s +120s S =closed F F F retry=60s"},
		story{"an open circuit starts a new period", "F F F +50s trip told=open>open retry=60s trips=1"},
		story{"an open circuit keeps its skips", "F F F X X trip X skipped=3"},
		story{"half-open becomes open, and its probes late", "F F F +60s a( trip told=half-open>open =open retry=60s probes=0 a)S =open late=1"},
		story{"forgets the streak", "F F trip +60s S F F =closed"},
		story{"a run that was permitted before is late", "a( trip a)F =open late=1"},
		story{"below a hold", "hold trip =held X:held enable =open X:open"},
		story{"below a disable", "disable trip =disabled S enable =open X"},
	)
}

func TestReset(t *testing.T) {
	tell(t,
		story{"closes", "F F F X reset told=open>closed =closed streak=0 skipped=0 S"},
		story{"forgets the streak", "F F reset streak=0 F F =closed F =open"},
		story{"forgets the window", "{window=10m,threshold=3} F F reset window=0/0 F F =closed F =open"},
		story{"keeps totals and history", "F F F X reset failures=3 refused=1 trips=1 transitions=2"},
		story{"half-open closes, and its probes are late", "F F F +60s a( reset =closed a)F streak=0 late=1"},
		story{"forgets the backoff", "{backoff=2} F F F +60s F reset F F F retry=60s reopens=0"},
		story{"a new generation even when closed, where a failure is forgotten", "F gen=new reset gen=new told=closed>closed"},
		story{"also one that is no streak any more", "{window=4,threshold=3} F S gen=new reset gen=new told=closed>closed window=0/0"},
		story{"nothing to forget changes nothing", "S gen=new a( reset told=nothing gen=same a)F streak=1 late=0 transitions=0"},
		story{"again and again", "F F F reset gen=new a( reset*101 told=nothing gen=same transitions=2 a)F streak=1 late=0"},
		story{"successes leave the window all the same", "{window=4,threshold=3} S S S reset told=nothing window=0/0 F F F =closed F =open"},
		story{"nothing to forget below a hold", "hold gen=new reset gen=same =held"},
		story{"a hold has its own end", "F F F hold reset =held X:held enable =closed S"},
		story{"so has a disable", "F F F disable reset =disabled F*9 enable =closed streak=0"},
	)
}

func TestHold(t *testing.T) {
	tell(t,
		story{"refuses every run", "hold told=closed>held =held X:held*3 refused=3"},
		story{"until enabled", "hold +9999h X enable told=held>closed =closed S"},
		story{"or for a time, to the nanosecond", "hold:10m +9m59s X:held +999999999ns X +1ns S =closed"},
		story{"its end is a transition of the next admission", "hold:10m +20m S told=nothing transitions=2 =closed"},
		story{"told by that admission", "hold:10m +20m a( told=held>closed"},
		story{"reads and time do not end it", "hold:10m +20m =held"},
		story{"the state below is kept: closed", "F F hold enable streak=2 F =open"},
		story{"the state below is kept: open", "F F F hold +30s X:held enable =open retry=30s X:open"},
		story{"an open period goes on below", "F F F hold:10m +10m S =closed"},
		story{"and does not end early when the hold does", "{timeout=10m} F*3 hold:1m +1m X:open retry=9m"},
		story{"half-open becomes open with the probe due", "F F F +60s a( +5s hold told=half-open>open,open>held probes=0 why=3_failures_in_a_row enable =open retry=0s S =closed reopens=0"},
		story{"its probe is late", "F F F +60s a( hold a)S =held late=1"},
		story{"a new generation: what ran before is late", "a( gen=new hold gen=new a)F streak=0 late=1"},
		story{"refusals while closed are not skips of an outage", "hold X enable skipped=0 refused=1"},
		story{"refusals while open are", "F F F X hold X*2 skipped=3"},
		story{"a second hold replaces the first", "hold:10m +5m hold:10m +9m X +1m S"},
		story{"a hold without an end replaces one with", "hold:10m hold +20m X:held"},
		story{"the same hold again changes nothing", "hold gen=new hold told=nothing gen=same"},
		story{"a hold over a disable", "disable hold told=disabled>held X:held"},
		story{"a run under the probe is refused too", "F F F +60s a( hold X:held"},
	)
}

func TestDisable(t *testing.T) {
	tell(t,
		story{"always runs and counts in totals only", "disable told=closed>disabled F*9 =disabled failures=9 streak=0 trips=0"},
		story{"an open circuit too", "F F F disable F S =disabled enable =open retry=60s X"},
		story{"the circuit is frozen: streak", "F F disable S F enable streak=2 F =open"},
		story{"the circuit is frozen: window", "{window=10m,threshold=3} F F disable S F enable window=2/2"},
		story{"half-open becomes open with the probe due", "F F F +60s a( disable =disabled b( enable =open retry=0s b)F =open a)S late=1 S =closed"},
		story{"a result that comes after enable counts in totals only", "disable a( enable a)F streak=0 failures=1 late=0"},
		story{"the period goes on below", "F F F disable +60s enable S =closed"},
		story{"a disable over a hold", "hold:10m disable told=held>disabled +20m S =disabled"},
		story{"the same disable again changes nothing", "disable gen=new a( disable told=nothing gen=same a)F failures=1"},
		story{"ignored is counted too", "disable I ignored=1"},
	)
}

func TestEnable(t *testing.T) {
	tell(t,
		story{"nothing to lift changes nothing", "F F gen=new enable told=nothing gen=same streak=2"},
		story{"it makes no half-open late", "F F F +60s a( enable a)S =closed"},
		story{"a new generation", "hold gen=new enable gen=new"},
		story{"a hold that was over already ends as such", "hold:10m +20m enable told=held>closed =closed"},
	)
}

func TestTripTimeout(t *testing.T) {
	used := Circuit{Policy: Default()}
	for _, test := range []struct {
		order Order
		want  time.Duration
	}{
		{Order{}, 5 * time.Minute},
		{Order{Timeout: 2 * time.Hour}, 2 * time.Hour}, // above the cap of the policy last used
		{Order{Timeout: 2 * time.Hour, For: time.Second}, time.Second},
	} {
		for name, c := range map[string]Circuit{"used": used, "never used": {}} {
			test.order.At = start()
			if got := c.Trip(test.order).Period; got != test.want {
				t.Errorf("%+v of a circuit that was %s: %v, want %v", test.order, name, got, test.want)
			}
		}
	}
}

func TestLastTrip(t *testing.T) {
	order := func(reason string) Order { return Order{At: start(), By: "alice", Reason: reason} }
	var c Circuit
	if _, ok := c.LastTrip(); ok {
		t.Error("a circuit that has seen nothing was tripped")
	}
	probing, _, err := c.Trip(order("first")).Trip(order("second")).Admit(Default(), start().Add(time.Hour), Caller{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]Circuit{
		"half-open": probing, "held": probing.Hold(order("third")), "disabled": probing.Disable(order("")),
		"closed": probing.Reset(order("fourth")),
	} {
		if trip, ok := c.LastTrip(); !ok || trip.Reason != "second" {
			t.Errorf("%s: %+v, %v", name, trip, ok)
		}
	}
	c = probing.Hold(order("third"))
	if ended := c.History[len(c.History)-2]; ended.Reason != "held while probing" || c.Reason != "tripped by hand: second" {
		t.Errorf("%q, and it is open because of %q", ended.Reason, c.Reason)
	}
}
