package breaker

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// TestPolicyMistakes spoils a good policy in one way at a time.
func TestPolicyMistakes(t *testing.T) {
	counted := func(p *Policy) { p.WindowCalls, p.Threshold = 10, 5 }
	timed := func(p *Policy) { p.WindowSpan = time.Minute }
	for _, test := range []struct {
		name   string
		change func(p *Policy)
		flags  string // that are named, in this order; empty: it is a good policy
	}{
		{"the default", func(*Policy) {}, ""},
		{"threshold 1", func(p *Policy) { p.Threshold = 1 }, ""},
		{"threshold 1000", func(p *Policy) { p.Threshold = 1000 }, ""},
		{"threshold 1001", func(p *Policy) { p.Threshold = 1001 }, "--threshold"},
		{"threshold -1", func(p *Policy) { p.Threshold = -1 }, "--threshold"},
		{"no rule at all", func(p *Policy) { p.Threshold = 0 }, "--threshold"},
		{"count window", counted, ""},
		{"window 1000", func(p *Policy) { p.WindowCalls = 1000 }, ""},
		{"window 1001", func(p *Policy) { p.WindowCalls = 1001 }, "--window"},
		{"window -1", func(p *Policy) { p.WindowCalls = -1 }, "--window"},
		{"threshold as large as the window", func(p *Policy) { counted(p); p.Threshold = 10 }, ""},
		{"threshold above the window", func(p *Policy) { counted(p); p.Threshold = 11 }, "--threshold"},
		{"time window", timed, ""},
		{"time window of 1ms", func(p *Policy) { p.WindowSpan = time.Millisecond }, ""},
		{"time window below 1ms", func(p *Policy) { p.WindowSpan = time.Millisecond - 1 }, "--window"},
		{"negative time window", func(p *Policy) { p.WindowSpan = -time.Hour }, "--window"},
		{"threshold above what a time window counts", func(p *Policy) { timed(p); p.Threshold = 1000 }, ""},
		{"two windows", func(p *Policy) { counted(p); timed(p) }, "--window"},
		{"rate", func(p *Policy) { counted(p); p.FailureRate = 50; p.Threshold = 0 }, ""},
		{"rate 1", func(p *Policy) { timed(p); p.FailureRate = 1 }, ""},
		{"rate 100", func(p *Policy) { timed(p); p.FailureRate = 100 }, ""},
		{"rate 101", func(p *Policy) { timed(p); p.FailureRate = 101 }, "--failure-rate"},
		{"rate -1", func(p *Policy) { timed(p); p.FailureRate = -1 }, "--failure-rate"},
		{"rate without a window", func(p *Policy) { p.FailureRate = 50 }, "--failure-rate"},
		{"min-calls", func(p *Policy) { counted(p); p.MinCalls = 10 }, ""},
		{"min-calls above the window", func(p *Policy) { counted(p); p.MinCalls = 11 }, "--min-calls"},
		{"min-calls above all that is kept", func(p *Policy) { timed(p); p.MinCalls = 1001 }, "--min-calls"},
		{"min-calls without a window", func(p *Policy) { p.MinCalls = 5 }, "--min-calls"},
		{"failure-ttl", func(p *Policy) { p.FailureTTL = time.Hour }, ""},
		{"failure-ttl below 1ms", func(p *Policy) { p.FailureTTL = 1 }, "--failure-ttl"},
		{"failure-ttl with a window", func(p *Policy) { timed(p); p.FailureTTL = time.Hour }, "--failure-ttl"},
		{"no timeout", func(p *Policy) { p.Timeout = 0 }, "--timeout"},
		{"negative timeout", func(p *Policy) { p.Timeout = -time.Second }, "--timeout"},
		{"timeout of 1ms", func(p *Policy) { p.Timeout = time.Millisecond }, ""},
		{"max-timeout below the timeout", func(p *Policy) { p.MaxTimeout = time.Second }, ""},
		{"max-timeout below 1ms", func(p *Policy) { p.MaxTimeout = 5 }, "--max-timeout"},
		{"backoff 0", func(p *Policy) { p.Backoff = 0 }, ""},
		{"backoff 1.5", func(p *Policy) { p.Backoff = 1.5 }, ""},
		{"backoff 1000", func(p *Policy) { p.Backoff = 1000 }, ""},
		{"backoff 0.5", func(p *Policy) { p.Backoff = 0.5 }, "--backoff"},
		{"backoff 1001", func(p *Policy) { p.Backoff = 1001 }, "--backoff"},
		{"backoff -2", func(p *Policy) { p.Backoff = -2 }, "--backoff"},
		{"backoff that is no number", func(p *Policy) { p.Backoff = math.NaN() }, "--backoff"},
		{"backoff without end", func(p *Policy) { p.Backoff = math.Inf(1) }, "--backoff"},
		{"jitter 100", func(p *Policy) { p.Jitter = 100 }, ""},
		{"jitter 101", func(p *Policy) { p.Jitter = 101 }, "--jitter"},
		{"jitter -1", func(p *Policy) { p.Jitter = -1 }, "--jitter"},
		{"probes as many as successes", func(p *Policy) { p.Probes, p.Successes = 4, 4 }, ""},
		{"probes as many as answers", func(p *Policy) { p.Probes, p.Successes, p.Answers = 5, 4, 5 }, ""},
		{"more probes than successes", func(p *Policy) { p.Probes, p.Successes = 5, 4 }, "--probes"},
		{"more probes than answers", func(p *Policy) { p.Probes, p.Successes, p.Answers = 6, 4, 5 }, "--probes"},
		{"negative probes", func(p *Policy) { p.Probes = -1 }, "--probes"},
		{"1000 successes", func(p *Policy) { p.Successes = 1000 }, ""},
		{"1001 successes", func(p *Policy) { p.Successes = 1001 }, "--successes"},
		{"more successes than answers", func(p *Policy) { p.Successes, p.Answers = 3, 2 }, "--successes"},
		{"too many answers", func(p *Policy) { p.Answers = 1001 }, "--successes"},
		{"probe-limit below 1ms", func(p *Policy) { p.ProbeLimit = 1 }, "--probe-limit"},
		{"several", func(p *Policy) { p.Timeout, p.Jitter, p.FailureRate = 0, 200, 50 }, "--timeout --jitter --failure-rate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := Default()
			test.change(&p)
			checkMistakes(t, p.Validate(), strings.Fields(test.flags))
		})
	}
}

// checkMistakes demands one message for each flag, which it names first.
func checkMistakes(t *testing.T, err error, flags []string) {
	t.Helper()
	var found Mistakes
	if err != nil && !errors.As(err, &found) {
		t.Fatalf("an error of another kind: %v", err)
	}
	if len(found) != len(flags) {
		t.Fatalf("mistakes %q, want those of %q", found, flags)
	}
	for i, flag := range flags {
		if first, _, _ := strings.Cut(found[i], " "); first != flag {
			t.Errorf("mistake %q does not begin with %s", found[i], flag)
		}
		if !strings.Contains(err.Error(), found[i]) {
			t.Errorf("%q does not tell of %q", err, found[i])
		}
	}
}

// TestPeriodSaturates checks the extremes that no story can reach.
func TestPeriodSaturates(t *testing.T) {
	d := draw(1)
	for _, p := range []Policy{
		{Timeout: math.MaxInt64, Backoff: 1000, MaxTimeout: math.MaxInt64, Jitter: 100},
		{Timeout: math.MaxInt64 - 1, Backoff: 1, Jitter: 50},
		{Timeout: time.Millisecond, Backoff: 1000, MaxTimeout: math.MaxInt64},
		{Timeout: time.Millisecond, Backoff: math.MaxFloat64, MaxTimeout: time.Hour, Jitter: 100},
		{Backoff: 2, Jitter: math.MaxInt}, // as no policy, but a damaged file
		{Timeout: -time.Hour, MaxTimeout: -time.Hour, Backoff: math.Inf(1)},
	} {
		for _, reopens := range []int{0, 1, 2, 63, 64, 1000, math.MaxInt32, math.MaxInt} {
			most := max(p.Timeout, p.MaxTimeout, MinDuration)
			if got := p.period(reopens, &d); got < MinDuration || got > most {
				t.Errorf("%+v after %d re-opens: a period of %v", p, reopens, got)
			}
		}
	}
}
