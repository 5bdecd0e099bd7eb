package breaker

import "testing"

// One test for each row of the table of transitions.

func TestClosedToOpen(t *testing.T) {
	tell(t,
		story{"the third failure in a row opens, not the second and not the fourth", "F F =closed streak=2 F told=closed>open =open X:open"},
		story{"the reason and its numbers are kept", "F F F why=3_failures_in_a_row retry=60s reopens=0 trips=1"},
		story{"streak and window are cleared", "{window=4,threshold=2} F S S F =open streak=0 window=0/0"},
		story{"a slow run is a failure", "L F L =open failures=3"},
		story{"a success never opens", "F F {window=2,threshold=1} S =closed window=1/2 F =open"},
		story{"the failure is judged by the rules of its own run", "a( {threshold=1} b( a)F =closed b)F =open"},
		story{"the period is that of the run that trips", "{timeout=10m} F F {timeout=20s} F retry=20s"},
	)
}

func TestOpenToHalfOpen(t *testing.T) {
	tell(t,
		story{"refused until the period is over, to the nanosecond", "F F F +59s X:open +999999999ns X retry=1ns +1ns S"},
		story{"permitted at the deadline", "F F F +60s a( told=open>half-open =half-open probes=1"},
		story{"the run that finds the period over is the first probe", "F F F +61s a( X:probe"},
		story{"time alone does nothing", "F F F +240h =open gen=new told=closed>open"},
		story{"the recovery numbers are those of the first probe's run", "F F F +60s {successes=2} S =half-open {successes=1} S =closed"},
		story{"later policies do not change the recovery numbers", "F F F +60s {successes=2} a( {successes=1,probes=1} X a)S S =closed"},
		story{"a period that was drawn is not shortened by other options", "{timeout=10m} F*3 +2m {timeout=1m} X retry=8m"},
	)
}

func TestHalfOpenToClosed(t *testing.T) {
	tell(t,
		story{"one success closes", "F F F +60s S told=half-open>closed =closed"},
		story{"all counters are clear", "{backoff=2} F F F X +60s F X +120s reopens=1 S streak=0 reopens=0 skipped=0 window=0/0 probes=0"},
		story{"old failures do not trip again after a close", "F F F +60s S F F =closed F =open"},
		story{"old outcomes are in no window after a close", "{window=10m,threshold=3} F F F +60s S F F =closed window=2/2 F =open"},
		story{"the probe is not in the next window", "{window=3,threshold=2} F F F +60s S window=0/0 F F =closed F =open"},
		story{"the backoff begins anew", "{backoff=2} F F F +60s F retry=120s +120s S F F F retry=60s"},
		story{"the next outage is the next trip", "F F F +60s S F F F trips=2"},
	)
}

func TestHalfOpenToOpen(t *testing.T) {
	tell(t,
		story{"the first failure re-opens", "F F F +60s F told=half-open>open =open reopens=1 X"},
		story{"the new period counts from the failure", "F F F +60s a( +7s a)F retry=60s"},
		story{"a slow probe has failed", "F F F +60s L =open reopens=1"},
		story{"a re-open is no trip", "F F F +60s F +60s F trips=1 reopens=2"},
		story{"a success before it does not help", "{successes=2} F F F +60s S F =open reopens=1"},
		story{"refusals add up over the whole outage", "F F F X*3 +60s F X*2 skipped=5 refused=5"},
		story{"the period is by the options of the probe that failed", "F F F +60s {timeout=10s} F retry=10s"},
	)
}

func TestLostProbe(t *testing.T) {
	tell(t,
		story{"a lost probe re-opens without a backoff step", "{backoff=2} F F F +60s a( +10s a! X:open told=half-open>open lost=1 reopens=0"},
		story{"the new period counts from the probe's start", "F F F +60s a( +10s a! X retry=50s"},
		story{"another probe at the end of that period", "F F F +60s a( +10s a! X +49s X +1s S =closed"},
		story{"when the period is over the same admission probes", "F F F +60s a( a! +60s b( told=half-open>open,open>half-open lost=1 b)S =closed"},
		story{"just before it is not", "F F F +60s a( a! +59s X"},
		story{"nobody noticed for days", "F F F +60s a( a! +240h S =closed reopens=0"},
		story{"the period was drawn when the probing began, whatever options find the loss", "{timeout=10m} F*3 +10m a( a! +2m {timeout=1m} X retry=8m"},
		story{"also longer ones do not prolong it", "F F F +60s a( a! +1m {timeout=10m} S =closed"},
		story{"by the options of the run that began it", "F F F +60s {timeout=10m} a( a! +1m {timeout=1m} X retry=9m"},
		story{"the length of a manual trip counts once", "S trip:2h +2h a( a! X retry=60s"},
		story{"with its backoff steps", "{backoff=2} F F F +60s F +120s a( a! X retry=120s reopens=1 +120s F retry=240s"},
		story{"the others of its batch are late", "{probes=2,successes=2} F F F +60s a( b( a! X b)S =open late=1 lost=1"},
		story{"the last start of the lost counts", "{probes=2,successes=2} F F F +60s a( +10s b( a! b! X retry=60s lost=2"},
		story{"at most one unanswered batch a period", "F F F +60s a( a! +60s b( b! X:open retry=60s"},
		story{"a probe limit below the period does not make it short", "{probe-limit=10s} F F F +60s a( a! +30s X:open retry=30s lost=1 reopens=0 +30s S =closed"},
		story{"a lost probe is no trip and tells no state but open", "F F F +60s a( a! X trips=1 =open"},
		story{"its answer, should it come, is late", "F F F +60s a( a! X a)S late=1 =open"},
		story{"answers of the lost batch do not count in the next", "{successes=2/3} F F F +60s S a( a! X +60s S =half-open S =closed"},
		story{"a dead run of a closed circuit leaves no trace", "a( a! F F =closed F =open lost=0"},
		story{"without a lease nobody knows, but for the probe limit", "{probe-limit=5m} F F F +60s a(acquired a! +4m X:probe +1m S =closed"},
	)
}

func TestOverdueProbe(t *testing.T) {
	tell(t,
		story{"an overdue probe frees its slot", "{probe-limit=5m} F F F +60s a( +299s X:probe +1s b( =half-open probes=2"},
		story{"an hour when the options do not say", "F F F +60s a( +59m59s X +1s b( probes=2"},
		story{"its success still closes", "{probe-limit=5m} F F F +60s a( +90m a)S =closed"},
		story{"also beside another probe, which is late then", "{probe-limit=5m} F F F +60s a( +5m b( a)S =closed b)F =closed late=1 streak=0"},
		story{"its failure still re-opens", "{probe-limit=5m} F F F +60s a( +90m a)F =open reopens=1"},
		story{"it is late when the other has closed", "{probe-limit=5m} F F F +60s a( +5m b( b)S a)F =closed streak=0 late=1"},
		story{"it is late when the other has re-opened", "{probe-limit=5m} F F F +60s a( +5m b( b)F a)S =open late=1"},
		story{"it is late in the next half-open", "{probe-limit=5m} F F F +60s a( +5m F +60s b( a)S =half-open late=1"},
		story{"the limit is that of the probe's own run", "{probe-limit=5m} F F F +60s a( {probe-limit=1m} +2m X +3m b("},
		story{"one that dies after its limit is gone, and the other goes on", "{probe-limit=5m} F F F +60s a( +5m b( a! X:probe =half-open lost=1 probes=1 b)S =closed"},
		story{"also when its period is not over", "{probe-limit=10s} F F F +60s a( +10s b( a! X:probe =half-open b)S =closed"},
		story{"but when both die it is the second that counts", "{probe-limit=10s} F F F +60s a( +10s b( a! b! +20s X:open retry=40s lost=2"},
		story{"two answers of the same slot count", "{successes=2,probe-limit=5m} F F F +60s a( +5m b( a)S =half-open b)S =closed"},
	)
}

func TestAdmission(t *testing.T) {
	tell(t,
		story{"one probe at a time", "F F F +60s a( X:probe*49 a)S S"},
		story{"--probes of them at a time", "{probes=2,successes=3} F F F +60s a( b( X:probe a)S c( X b)S c)S =closed"},
		story{"no more than there are answers needed", "{probes=2,successes=3} F F F +60s S S a( X:probe a)S =closed"},
		story{"no more than N of M/N", "{probes=3,successes=2/3} F F F +60s S F a( X:probe a)S =closed"},
		story{"an ignored probe frees its slot and answers nothing", "{probes=2,successes=2} F F F +60s a( b( a)I c( X b)S c)S =closed"},
		story{"refusals are counted", "F F F X*5 refused=5 skipped=5"},
		story{"a refusal is no failure", "F F F X*9 failures=3 streak=0 +60s S =closed failures=3"},
		story{"refusals count after the close too", "F F F X +60s S F F F X refused=2 skipped=1"},
		story{"refusals do not move the deadline", "F F F +59s X*50 retry=1s"},
	)
}

func TestRunsUnderAProbe(t *testing.T) {
	tell(t,
		story{"a run under a probe passes through", "F F F +60s a( b(under:a =half-open probes=1 b)F =half-open a)S =closed failures=4 successes=1"},
		story{"as often as it likes, and one under the other", "F F F +60s a( b(under:a c(under:a c)F b)F =half-open X:probe"},
		story{"it counts in totals only", "F F F +60s a( b(under:a b)S successes=1 =half-open late=0"},
		story{"also when its probe is over before it", "F F F +60s a( b(under:a a)S b)F =closed streak=0 failures=4 late=0"},
		story{"under an overdue probe too", "{probe-limit=5m} F F F +60s a( +6m b(under:a probes=1"},
	)
	t.Run("a token of no live probe is worth nothing", func(t *testing.T) {
		w := newWorld(t)
		w.order(Circuit.Trip, 0)
		if _, refused := w.admit(Default(), Caller{Tokens: []string{"", "0123456789abcdef"}}); refused == nil {
			t.Error("permitted")
		}
		w.now = w.now.Add(Default().Timeout)
		probe, _ := w.admit(Default(), Caller{Leased: true})
		probe.dead = true
		who := Caller{Tokens: []string{probe.permit.Probe}}
		if _, refused := w.admit(Default(), who); refused == nil {
			t.Error("permitted under a probe that is lost")
		}
	})
}

func TestRecording(t *testing.T) {
	tell(t,
		story{"a run of the closed circuit that succeeds after the trip is late", "a( F F F a)S =open late=1 successes=0"},
		story{"one that fails late leaves the deadline", "a( F F F +30s a)F retry=30s late=1 failures=3"},
		story{"one that ends in half-open does not answer for the probe", "a( F F F +60s b( a)S =half-open late=1 b)F =open"},
		story{"one that ends after the close does not count", "a( F F F +60s S a)F streak=0 late=1"},
		story{"a probe that ends after a reset is late", "F F F +60s a( reset a)F =closed streak=0 late=1"},
		story{"a run that ends after a reset is late", "F a( reset a)F streak=0 late=1"},
		story{"ignored leaves the streak", "F F I =closed streak=2 ignored=1 F =open"},
		story{"ignored leaves the window", "{window=3,threshold=2} F I I I =closed window=1/1 ignored=3"},
		story{"ignored leaves the probe counters", "{successes=2} F F F +60s S I =half-open I S =closed"},
		story{"ignored does not make a failure young", "{failure-ttl=1h} F F +50m I +50m F =closed streak=1"},
		story{"a probe answers once", "{successes=2} F F F +60s a( a)S a)S =half-open late=1 successes=1"},
		story{"a two-step permit answers once", "a(acquired a)F a)F streak=1 late=1 failures=1"},
		story{"also after other permits", "a(acquired b(acquired a)F b)F a)F b)F streak=2 late=2"},
		story{"an ignored answer is one too", "a(acquired a)I a)F streak=0 ignored=1 late=1"},
		story{"a permit of the last generation is late", "a(acquired F F F +60s S a)F streak=0 late=1"},
		story{"an acquired probe answers once", "F F F +60s a(acquired a)S a)F =closed late=1 streak=0"},
	)
}

func TestObserve(t *testing.T) {
	tell(t,
		story{"an outcome seen elsewhere counts as a run's", "o:F o:F streak=2 o:F =open trips=1 failures=3"},
		story{"as the first thing a circuit hears, by the default policy", "o:F o:F o:F =open retry=5m"},
		story{"by the policy last used", "{threshold=2,timeout=7m} S o:F o:F =open retry=7m"},
		story{"a success ends the streak", "F F o:S streak=0"},
		story{"ignored is ignored", "F F o:I streak=2 ignored=1"},
		story{"while open it changes totals only", "F F F +30s o:F o:S =open retry=30s failures=4 successes=1 told=nothing"},
		story{"while half-open no probe has answered", "F F F +60s a( o:S o:F =half-open probes=1 late=2 a)S =closed"},
		story{"while disabled it changes totals only", "disable o:F*5 =disabled failures=5 enable =closed streak=0"},
		story{"while held the circuit below goes on", "hold o:F*3 =held enable =open"},
		story{"a hold that is over ends first", "hold:1m +2m o:F told=held>closed streak=1"},
	)
}

func TestOneOutageIsOneTrip(t *testing.T) {
	tell(t,
		story{"fifty failures that race", repeated("r%d( ", 50) + repeated("r%d)F ", 50) + "=open trips=1 transitions=1 failures=3 late=47 reopens=0 retry=60s"},
		story{"fifty that race for the probe", "F F F +60s a( X:probe*49 probes=1 a)S =closed"},
	)
}
