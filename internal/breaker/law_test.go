package breaker

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestLaws walks at random: any policies, any number of runs at a time, deaths,
// manual commands, and a clock that steps and is set back. world checks the
// laws after each step, and here that the circuit is never stuck.
func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.seed = rapid.Uint64().Draw(t, "seed")
		policies := rapid.SliceOfN(policies(), 1, 3).Draw(t, "policies")
		policy := func(t *rapid.T) Policy { return rapid.SampledFrom(policies).Draw(t, "policy") }
		t.Repeat(map[string]func(*rapid.T){
			"":       func(t *rapid.T) { w.t = t; w.closesAgain(policies[0]) },
			"run":    func(t *rapid.T) { w.runOnce(policy(t), outcome(t)) },
			"again":  func(t *rapid.T) { w.runOnce(policy(t), outcome(t)) },
			"admit":  func(t *rapid.T) { w.admit(policy(t), w.caller(t)) },
			"finish": func(t *rapid.T) { w.finish(w.anyRun(t), outcome(t)) },
			"die":    func(t *rapid.T) { w.anyRun(t).dead = true },
			"wait":   func(t *rapid.T) { w.now = w.now.Add(length(0, 2*time.Hour).Draw(t, "wait")) },
			"due": func(t *rapid.T) {
				if w.c.State == Open && w.now.Before(w.c.RetryAt) {
					w.now = w.c.RetryAt.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "nanoseconds")))
				}
			},
			"set back": func(t *rapid.T) { w.now = w.now.Add(-length(0, 48*time.Hour).Draw(t, "back")) },
			"step": func(t *rapid.T) {
				by := length(-48*time.Hour, 48*time.Hour).Draw(t, "step")
				w.now, w.c = w.now.Add(by), w.c.Shift(by)
			},
			"observe": func(t *rapid.T) { w.observe(outcome(t)) },
			"command": func(t *rapid.T) {
				w.order(rapid.SampledFrom([]func(Circuit, Order) Circuit{
					Circuit.Trip, Circuit.Hold, Circuit.Disable, Circuit.Enable, Circuit.Enable, Circuit.Reset,
				}).Draw(t, "command"), rapid.SampledFrom([]time.Duration{0, time.Second, time.Hour}).Draw(t, "for"))
			},
		})
	})
}

// runOnce asks for a run that ends at once if it is permitted.
func (w *world) runOnce(p Policy, outcome Outcome) {
	w.t.Helper()
	if r, _ := w.admit(p, Caller{Leased: true}); r != nil {
		w.finish(r, outcome)
	}
}

// caller draws who asks for a permit: some carry the token of another run.
func (w *world) caller(t *rapid.T) Caller {
	who := Caller{Leased: rapid.Bool().Draw(t, "leased"), Ticket: rapid.Bool().Draw(t, "ticket")}
	if len(w.runs) > 0 && rapid.IntRange(0, 9).Draw(t, "nested") == 0 {
		who.Tokens = []string{rapid.SampledFrom(w.runs).Draw(t, "outer").permit.Probe}
	}
	return who
}

// anyRun draws a run. One that is dead or has answered may answer again: a
// permit can be used twice, and a process can be taken for dead.
func (w *world) anyRun(t *rapid.T) *run {
	if len(w.runs) == 0 {
		t.Skip("no run was permitted")
	}
	r := rapid.SampledFrom(w.runs[max(0, len(w.runs)-6):]).Draw(t, "run")
	if r.done && r.permit.Ticket == "" && r.permit.Probe == "" {
		t.Skip("only a ticket or a probe's token tells a second answer")
	}
	return r
}

// closesAgain checks that the circuit is not stuck: once no override lies over
// it and what is due is over, runs that succeed close it, whether or not those
// that are under way ever answer.
func (w *world) closesAgain(p Policy) {
	w.t.Helper()
	if err := stuck(w.load(), p, w.now); err != nil {
		w.t.Fatalf("%v: %s", err, describe(w.c))
	}
}

func policies() *rapid.Generator[Policy] {
	return rapid.Custom(func(t *rapid.T) Policy {
		pick := func(name string, from ...int) int { return rapid.SampledFrom(from).Draw(t, name) }
		span := func(name string, most time.Duration) time.Duration {
			return rapid.OneOf(rapid.Just(time.Duration(0)), length(MinDuration, most)).Draw(t, name)
		}
		p := Policy{
			Threshold:  pick("threshold", 1, 2, 3, 5),
			Timeout:    length(MinDuration, 2*time.Hour).Draw(t, "timeout"),
			Backoff:    rapid.SampledFrom([]float64{0, 1, 1.5, 2, 1000}).Draw(t, "backoff"),
			MaxTimeout: span("max-timeout", 4*time.Hour),
			Jitter:     pick("jitter", 0, 0, 10, 100),
			Successes:  pick("successes", 0, 1, 2, 3),
			ProbeLimit: span("probe-limit", 3*time.Hour),
		}
		p.Answers = pick("answers", 0, p.Successes, p.Successes+1, p.Successes+3)
		p.Probes = rapid.IntRange(0, p.answers()).Draw(t, "probes")
		switch pick("window", 0, 0, 1, 2) {
		case 0:
			p.FailureTTL = span("failure-ttl", time.Hour)
			return p
		case 1:
			p.WindowCalls = pick("window-calls", 5, 10, 40)
			p.MinCalls = pick("min-calls", 0, 1, 5)
		case 2:
			p.WindowSpan = length(time.Second, 4*time.Hour).Draw(t, "window-span")
			p.MinCalls = pick("min-calls", 0, 1, 20)
		}
		if p.FailureRate = pick("failure-rate", 0, 1, 50, 100); p.FailureRate > 0 {
			p.Threshold = pick("threshold too", 0, p.Threshold)
		}
		return p
	}).Filter(func(p Policy) bool { return p.Validate() == nil })
}

func outcome(t *rapid.T) Outcome {
	return rapid.SampledFrom([]Outcome{Success, Failure, Failure, Slow, Ignored}).Draw(t, "outcome")
}

func length(least, most time.Duration) *rapid.Generator[time.Duration] {
	return rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.Int64Range(int64(least), int64(most)).Draw(t, "length"))
	})
}
