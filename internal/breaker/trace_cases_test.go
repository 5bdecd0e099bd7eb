package breaker

import (
	"strings"
	"testing"
)

// TestCases has the cases by which the core was ordered, word by word: S
// success, F failure, I ignored, X refused; threshold 3, timeout 60s unless
// said. What needs processes or a file is tested where those are.
func TestCases(t *testing.T) {
	const backoff = "{threshold=1,backoff=2,timeout=1s,max-timeout=10s} "
	tell(t,
		story{"F F F opens (not the 4th)", "F F =closed F =open X"},
		story{"F F S F F stays closed", "F F S F F =closed"},
		story{"F F F, +60s, I → admitted, still half-open, slot free; S → closed", "F F F +60s I =half-open probes=0 S =closed"},
		story{"F F F, +60s, 50 at once → exactly one runs", "F F F +60s a( X:probe*49 a)S =closed"},
		story{"probe killed → after one more period the next is admitted", "F F F +60s a( a! X +59s X +1s S =closed"},
		story{"never stuck, also after a reboot with a clock that was set back", "F F F +60s a( a! -24h X +60s S =closed"},
		story{"a probe that outlives its limit frees its slot and its success still closes", "{probe-limit=10m} F*3 +60s a( +10m b( a)S =closed"},
		story{"--successes 2: exactly the second closes", "{successes=2} F F F +60s S =half-open S =closed"},
		story{
			"--probes 2 --successes 2: one fails, the other then succeeds → stays open, backoff step kept",
			"{probes=2,successes=2,backoff=2} F F F +60s a( b( a)F b)S =open reopens=1 retry=120s",
		},
		story{"a run admitted while closed that succeeds after the trip → stays open", "a( F F F a)S =open"},
		story{"one that fails late → deadline unchanged", "a( F F F +59s a)F retry=1s"},
		story{"50 parallel failures → one trip, one line", repeated("r%d( ", 50) + repeated("r%d)F ", 3) + "told=closed>open " +
			strings.ReplaceAll(repeated("r%d)F ", 50), "r1)F r2)F r3)F ", "") + "told=nothing trips=1 transitions=1"},
		story{"1,2,4,8,10,10 …", backoff + "F retry=1s +1s F retry=2s +2s F retry=4s +4s F retry=8s +8s F retry=10s +10s F retry=10s"},
		story{"… after 200 too", backoff + "F " + strings.Repeat("+10s F ", 200) + "retry=10s"},
		story{"wall clock back 24h in the same boot → admitted after 60s of real time", "F F F step:-24h +59s X +1s S =closed"},
		story{"forward 24h in the same boot → still refused", "F F F step:+24h X retry=60s"},
		story{"window 10 threshold 5 judged at ten outcomes", "{window=10,threshold=5} F*9 =closed F =open"},
		story{"57 of 100 meets 57 percent", "{window=100,failure-rate=57} S*43 F*56 =closed F =open"},
		story{"old failures do not re-trip after a close", "F F F +60s S F F =closed"},
		story{"four failures under --threshold 5, then one under 3 that succeeds", "{threshold=5} F*4 {threshold=3} S streak=0"},
		story{"four failures under --threshold 5, then one under 3 that fails", "{threshold=5} F*4 {threshold=3} F =open"},
		story{"tripped with --timeout 10m, then a run with 1m two minutes later: refused", "{timeout=10m} F*3 +2m {timeout=1m} X"},
	)
	t.Run("status 100 times changes nothing", func(t *testing.T) {
		w := newWorld(t)
		w.order(Circuit.Trip, 0)
		asFound := describe(w.c)
		for i := range 100 {
			if got := describe(w.c.At(w.now, uint64(i))); got != asFound {
				t.Fatalf("a reading shows\n%s\nwas %s", got, asFound)
			}
		}
	})
}
