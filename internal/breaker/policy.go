package breaker

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// MaxOutcomes is the largest window, in outcomes, and the most that a circuit keeps.
const MaxOutcomes = 1000

// defaultProbeLimit is how long a probe may stay unanswered when the policy
// does not say.
const defaultProbeLimit = time.Hour

// minTimedCalls is how many outcomes a failure rate over a time window needs
// when the policy does not say: one failure of one run is no rate.
const minTimedCalls = 10

// Policy is what one invocation brings along: the rules by which its own
// outcomes are judged. It is plain data; a zero field turns its rule off.
type Policy struct {
	// Threshold is the number of failures that trip: in a row, or within the
	// window when there is one.
	Threshold int `json:"threshold,omitempty"`
	// WindowCalls is the size of a count window, in outcomes.
	WindowCalls int `json:"window_calls,omitempty"`
	// WindowSpan is the length of a time window. At most one of the two is set.
	WindowSpan time.Duration `json:"window_span,omitempty"`
	// FailureRate is the percentage of failures in the window that trips.
	FailureRate int `json:"failure_rate,omitempty"`
	// MinCalls is how many outcomes a window needs before it is judged. Zero
	// means all of a count window, 10 for a rate over a time window, and 1 else.
	MinCalls int `json:"min_calls,omitempty"`
	// FailureTTL makes a failure that comes more than this after the previous
	// one the first of a new streak. Zero means that a streak does not age.
	FailureTTL time.Duration `json:"failure_ttl,omitempty"`

	// Timeout is the open period.
	Timeout time.Duration `json:"timeout"`
	// Backoff multiplies the open period at each re-open; 0 and 1 keep it.
	Backoff float64 `json:"backoff,omitempty"`
	// MaxTimeout caps the open period; it is never below Timeout.
	MaxTimeout time.Duration `json:"max_timeout,omitempty"`
	// Jitter moves each drawn period by up to this percentage, either way.
	Jitter int `json:"jitter,omitempty"`
	// Probes is how many probes may run at the same time; zero means 1.
	Probes int `json:"probes,omitempty"`
	// Successes is how many successful probes close; zero means 1.
	Successes int `json:"successes,omitempty"`
	// Answers is the N of "M of N probes"; zero means that all must succeed.
	Answers int `json:"answers,omitempty"`
	// ProbeLimit is how long a probe may stay unanswered before it is overdue;
	// zero means an hour.
	ProbeLimit time.Duration `json:"probe_limit,omitempty"`
}

// Default returns the policy of an invocation that says nothing.
func Default() Policy {
	return Policy{
		Threshold:  3,
		Timeout:    5 * time.Minute,
		Backoff:    1,
		MaxTimeout: time.Hour,
		Probes:     1,
		Successes:  1,
	}
}

// HasWindow reports whether the policy judges a window instead of a streak.
func (p Policy) HasWindow() bool { return p.WindowCalls > 0 || p.WindowSpan > 0 }

// answers returns how many probes are asked at the most before half-open ends.
func (p Policy) answers() int { return max(p.Answers, p.Successes, 1) }

// Mistakes are all that is wrong with a policy, each naming its flag.
type Mistakes []string

// Error puts them into one line.
func (m Mistakes) Error() string { return strings.Join(m, "; ") }

// Validate returns nil or Mistakes.
func (p Policy) Validate() error {
	var found Mistakes
	wrong := func(bad bool, format string, args ...any) {
		if bad {
			found = append(found, fmt.Sprintf(format, args...))
		}
	}
	within := func(flag string, n, least, most int) {
		wrong(n < least || n > most, "--%s must be %d to %d, not %d", flag, least, most, n)
	}
	duration := func(flag string, d time.Duration) {
		wrong(d != 0 && d < MinDuration, "--%s must be 1ms or longer", flag)
	}
	within("threshold", p.Threshold, 0, MaxOutcomes)
	within("window", p.WindowCalls, 0, MaxOutcomes)
	duration("window", p.WindowSpan)
	within("failure-rate", p.FailureRate, 0, 100)
	within("min-calls", p.MinCalls, 0, MaxOutcomes)
	duration("failure-ttl", p.FailureTTL)
	wrong(p.Timeout < MinDuration, "--timeout must be 1ms or longer")
	duration("max-timeout", p.MaxTimeout)
	wrong(p.Backoff != 0 && !(p.Backoff >= 1 && p.Backoff <= 1000), "--backoff must be 1 to 1000, not %g", p.Backoff)
	within("jitter", p.Jitter, 0, 100)
	within("probes", p.Probes, 0, MaxOutcomes)
	within("successes", p.Successes, 0, MaxOutcomes)
	within("successes", p.Answers, 0, MaxOutcomes)
	duration("probe-limit", p.ProbeLimit)

	wrong(p.WindowCalls > 0 && p.WindowSpan > 0, "--window is a number of outcomes or a duration, not both")
	wrong(p.WindowCalls > 0 && p.Threshold > p.WindowCalls,
		"--threshold %d cannot be reached in --window %d", p.Threshold, p.WindowCalls)
	wrong(p.WindowCalls > 0 && p.MinCalls > p.WindowCalls,
		"--min-calls %d cannot be reached in --window %d", p.MinCalls, p.WindowCalls)
	wrong(p.FailureRate > 0 && !p.HasWindow(), "--failure-rate needs --window")
	wrong(p.MinCalls > 0 && !p.HasWindow(), "--min-calls needs --window")
	wrong(p.FailureTTL > 0 && p.HasWindow(), "--failure-ttl ages failures in a row; leave it out with --window")
	wrong(p.Threshold == 0 && p.FailureRate == 0, "--threshold or --failure-rate is needed, or nothing can trip")
	wrong(p.Answers > 0 && p.Successes > p.Answers,
		"--successes %d/%d asks for more successes than probes", p.Successes, p.Answers)
	wrong(p.Probes > p.answers(), "--probes %d is more than the %d answers that --successes needs", p.Probes, p.answers())
	if found == nil {
		return nil
	}
	return found
}

// trips returns why a circuit that has just recorded a failure trips, or "".
// All comparisons are "reaches", in integers.
func (p Policy) trips(c *Circuit, now time.Time) string {
	if !p.HasWindow() {
		if p.Threshold > 0 && c.Streak >= p.Threshold {
			return plural(c.Streak, "failure") + " in a row"
		}
		return ""
	}
	calls, failures := c.Window(p, now)
	if p.Threshold > 0 && calls >= p.minCalls(1) && failures >= p.Threshold {
		if p.WindowSpan > 0 {
			return plural(failures, "failure") + " within " + FormatDuration(p.WindowSpan)
		}
		return fmt.Sprintf("%d of the last %d runs failed", failures, calls)
	}
	if p.FailureRate > 0 && calls >= p.minCalls(minTimedCalls) && failures*100 >= p.FailureRate*calls {
		return fmt.Sprintf("failure rate %d%% (%d of %d runs)", failures*100/calls, failures, calls)
	}
	return ""
}

// minCalls returns how many outcomes the window needs; timed is the answer of
// a time window for which the policy does not say.
func (p Policy) minCalls(timed int) int {
	switch {
	case p.MinCalls > 0:
		return p.MinCalls
	case p.WindowCalls > 0:
		return p.WindowCalls
	default:
		return timed
	}
}

// period draws the open period after the given number of re-opens.
func (p Policy) period(reopens int, d *draw) time.Duration {
	most := max(p.MaxTimeout, p.Timeout)
	period := p.Timeout
	if p.Backoff > 1 {
		period = saturate(float64(p.Timeout)*math.Pow(p.Backoff, float64(reopens)), most)
	}
	if p.Jitter > 0 {
		share := float64(p.Jitter) / 100 * (2*d.fraction() - 1)
		period = saturate(float64(period)*(1+share), most)
	}
	return max(period, MinDuration)
}

// saturate converts nanoseconds without overflow.
func saturate(nanoseconds float64, most time.Duration) time.Duration {
	if nanoseconds >= float64(most) {
		return most
	}
	return time.Duration(math.Round(nanoseconds))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// draw is a source of randomness that starts from a number the caller brings,
// so that the core stays a function of its arguments (SplitMix64).
type draw uint64

func (d *draw) next() uint64 {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// fraction returns a number from 0 up to but not including 1.
func (d *draw) fraction() float64 { return float64(d.next()>>11) / (1 << 53) }

// token names a probe: 16 hexadecimal digits.
func (d *draw) token() string { return fmt.Sprintf("%016x", d.next()) }
