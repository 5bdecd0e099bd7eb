package breaker

import (
	"strings"
	"testing"
	"time"
)

func TestBackoff(t *testing.T) {
	const growing = "{timeout=1s,backoff=2,max-timeout=10s,threshold=1} "
	tell(t,
		story{"1, 2, 4, 8, 10, 10", growing + "F retry=1s +1s F retry=2s +2s F retry=4s +4s F retry=8s +8s F retry=10s +10s F retry=10s"},
		story{"after 200 re-opens too", growing + "F " + strings.Repeat("+10s F ", 200) + "retry=10s reopens=200 trips=1"},
		story{"back to the base after a close", growing + "F +1s F +2s F retry=4s +4s S F retry=1s"},
		story{"off by default", "F F F" + strings.Repeat(" +60s F retry=60s", 20)},
		story{"a cap of an hour by default", "{backoff=10} F F F +60s F retry=10m +10m F retry=1h +1h F retry=1h"},
		story{"fractions", "{timeout=10s,backoff=1.5,threshold=1} F +10s F retry=15s +15s F retry=22.5s"},
		story{"the cap is never below the timeout", "{timeout=2h,backoff=2} F F F retry=2h +2h F retry=2h"},
		story{"nor does it cut a timeout without backoff", "{timeout=2h,max-timeout=1s} F F F retry=2h"},
		story{"the largest numbers do not overflow", "{timeout=100000d,max-timeout=106751d,backoff=1000,threshold=1} F +2400000h F retry=2562024h +2562024h F retry=2562024h"},
		story{"a lost probe takes no step, a failed one does", "{timeout=1s,backoff=2,threshold=1} F +1s a( a! X retry=1s +1s a( a! X retry=1s +1s F retry=2s reopens=1"},
		story{"an ignored probe takes none", "{timeout=1s,backoff=2,threshold=1} F +1s I =half-open reopens=0 F retry=2s"},
		story{"the steps are taken by the options of the run that fails", "{timeout=1s,backoff=2,threshold=1} F +1s F {timeout=1s,backoff=3} +2s F retry=9s"},
	)
}

func TestJitter(t *testing.T) {
	for seed := range 200 {
		w := newWorld(t)
		w.seed = uint64(seed) * 1000
		teller := &teller{t: t, w: w, named: map[string]*run{}, policy: storyPolicy(t, "threshold=1,jitter=10")}
		w.t = teller
		for word := range strings.FieldsSeq("F retry=54s..66s +66s F retry=54s..66s") {
			teller.told = append(teller.told, word)
			teller.word(word)
		}
	}
	tell(t,
		story{"never above the cap", strings.Repeat("{threshold=1,jitter=50,max-timeout=60s} F retry=30s..60s reset ", 50)},
		story{"drawn once: asking again does not move it", "{threshold=1,jitter=50} F +1s" + strings.Repeat(" X told=nothing", 20)},
		story{"on top of the backoff", strings.Repeat("{threshold=1,jitter=10,backoff=2} F +66s F retry=108s..132s reset ", 50)},
		story{"a period of nothing is still one", strings.Repeat("{threshold=1,jitter=100,timeout=1ms} F retry=1ms..2ms reset ", 50)},
	)
}

// TestJitterSpreads fails when all periods are the same, or lie on one side.
func TestJitterSpreads(t *testing.T) {
	p := Policy{Threshold: 1, Timeout: time.Minute, MaxTimeout: time.Hour, Jitter: 10}
	short, long := 0, 0
	for seed := range uint64(200) {
		switch c := (Circuit{}).Record(p, Permit{}, Call{At: start(), Outcome: Failure}, seed); {
		case c.Period < 57*time.Second:
			short++
		case c.Period > 63*time.Second:
			long++
		}
	}
	if short < 25 || long < 25 {
		t.Errorf("of 200 periods of 1m ± 10%% only %d are short and %d long", short, long)
	}
}

func TestSuccesses(t *testing.T) {
	tell(t,
		story{"--successes 2: exactly the second closes", "{successes=2} F F F +60s S =half-open S =closed told=half-open>closed"},
		story{"--successes 2: the first failure re-opens", "{successes=2} F F F +60s F =open reopens=1"},
		story{"2/3: one failure is borne", "{successes=2/3} F F F +60s F =half-open S =half-open S =closed"},
		story{"2/3: the second failure re-opens at once", "{successes=2/3} F F F +60s F =half-open F =open reopens=1"},
		story{"2/3: also after a success", "{successes=2/3} F F F +60s S F =half-open F =open"},
		story{"2/3: two successes close at once", "{successes=2/3} F F F +60s S S =closed"},
		story{"1/3: the third failure re-opens", "{successes=1/3} F F F +60s F F =half-open F =open"},
		story{"3/3 is as 3", "{successes=3/3} F F F +60s S S =half-open F =open"},
		story{"1000/1000", "{successes=1000} F F F +60s S*999 =half-open S =closed"},
		story{"each half-open counts anew", "{successes=2/3} F F F +60s S F F =open +60s S =half-open F S =closed"},
		story{"two at once, one fails and the other then succeeds: open, and the step is kept", "{probes=2,successes=2,backoff=2} F F F +60s a( b( a)F =open retry=120s b)S =open retry=120s late=1 reopens=1"},
		story{"two at once, both fail: one re-open", "{probes=2,successes=2} F F F +60s a( b( a)F b)F =open reopens=1 late=1 transitions=3"},
		story{"three at once of 2/3", "{probes=3,successes=2/3} F F F +60s a( b( c( X c)S b)F =half-open a)S =closed"},
	)
}

// TestStories has what people tell of a breaker, from the first failure to the
// end, and what to expect of each.
func TestStories(t *testing.T) {
	tell(t,
		story{"a night of a cron job", "{timeout=5m} S +1m S +1m F +1m F +1m F =open +1m X*4 +4m F =open X +5m S =closed skipped=0 refused=5 +1m S streak=0 trips=1"},
		story{"somebody interrupts the probe", "F F F +60s I =half-open probes=0 S =closed ignored=1"},
		story{"a 90-minute backup can close its circuit", "F F F +60s a( +30m X:probe +60m a)S =closed"},
		story{"a command that kills cb each time does not run at each call", "F F F +60s a( a! +30s X +30s b( b! +30s X +30s S =closed trips=1 reopens=0"},
		story{"the power fails during a probe", "F F F +60s a( a! -24h X retry=60s +60s S =closed"},
	)
}
