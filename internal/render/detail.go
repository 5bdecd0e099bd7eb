package render

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"cb/internal/breaker"
)

// detailStrip is how many outcomes the detail view shows.
const detailStrip = 32

// StatusDetail writes everything about one circuit, a line each.
func StatusDetail(w io.Writer, v View, style Style) error {
	c := v.Circuit
	var out strings.Builder
	state := glyph(c) + " " + v.stateText()
	if style.Colour {
		state = paint(stateColour(c), state)
	}
	fmt.Fprintf(&out, "%s  %s", Safe(v.Name), state)
	if since := v.since(); !since.IsZero() {
		fmt.Fprintf(&out, " since %s (%s)", Clock(since, v.Now), Span(v.Now.Sub(since)))
	}
	out.WriteString("\n\n")
	for _, row := range v.detail(style) {
		if row[1] != "" {
			fmt.Fprintf(&out, "  %-13s %s\n", row[0], row[1])
		}
	}
	if _, err := io.WriteString(w, out.String()); err != nil {
		return fmt.Errorf("write status: %w", err)
	}
	return nil
}

func (v View) detail(style Style) [][2]string {
	c := v.Circuit
	last := strip(c.Calls, detailStrip)
	if style.Colour {
		last = paintStrip(last)
	}
	return [][2]string{
		{"override", v.overrideText()},
		{"reason", Safe(c.Reason)},
		{"next try", v.nextTryAt()},
		{"skipped", sinceOpen(c)},
		{"probes", v.probesText()},
		{"streak", v.streakText()},
		{"last outcomes", last},
		{"last failure", v.lastFailure()},
		{"last success", v.lastSuccess()},
		{"latency", latency(c.Calls)},
		{"totals", totals(c.Totals)},
		{"policy", PolicyText(c.Policy)},
	}
}

func (v View) overrideText() string {
	o := v.Circuit.Override
	if o.Kind == breaker.NoOverride {
		return ""
	}
	text := string(o.Kind) + " by " + Safe(o.By)
	if o.Reason != "" {
		text += ": " + Safe(o.Reason)
	}
	if o.Until.IsZero() {
		return text + ", until cb enable"
	}
	return text + ", until " + Clock(o.Until, v.Now)
}

func (v View) nextTryAt() string {
	switch {
	case v.Circuit.State != breaker.Open:
		return ""
	case v.Circuit.ProbeDue(v.Now):
		return "now: the next run is the probe"
	}
	return fmt.Sprintf("%s at %s", v.nextTryIn(), Clock(v.Circuit.RetryAt, v.Now))
}

func (v View) nextTryIn() string { return "in " + Span(v.Circuit.RetryAt.Sub(v.Now)) }

func sinceOpen(c breaker.Circuit) string {
	if c.State == breaker.Closed {
		return ""
	}
	return fmt.Sprintf("%d since it opened", c.Skipped)
}

func (v View) probesText() string {
	texts := make([]string, len(v.Circuit.Probes))
	for i, probe := range v.Circuit.Probes {
		texts[i] = fmt.Sprintf("pid %d on %s for %s", probe.PID, Safe(probe.Host), Span(v.Now.Sub(probe.StartedAt)))
	}
	return strings.Join(texts, "; ")
}

func (v View) lastFailure() string {
	call := v.Circuit.Failed
	if call == nil {
		return ""
	}
	text := ""
	if call.Code != breaker.NoCode {
		text = fmt.Sprintf("exit %d after %s, ", call.Code, exact(call.Took))
	}
	return text + Span(v.Now.Sub(call.At)) + " ago at " + Clock(call.At, v.Now)
}

func (v View) lastSuccess() string {
	call := v.Circuit.Worked
	if call == nil {
		return ""
	}
	return Span(v.Now.Sub(call.At)) + " ago at " + Clock(call.At, v.Now)
}

// latency sums up how long the kept runs took.
func latency(calls []breaker.Call) string {
	var took []time.Duration
	for _, call := range calls {
		if call.Code != breaker.NoCode {
			took = append(took, call.Took)
		}
	}
	if len(took) == 0 {
		return ""
	}
	slices.Sort(took)
	return fmt.Sprintf("min %s, median %s, max %s of %s",
		exact(took[0]), exact(took[len(took)/2]), exact(took[len(took)-1]), plural(len(took), "run"))
}

func totals(t breaker.Totals) string {
	text := fmt.Sprintf("%s: %d succeeded, %d failed", plural(t.Runs(), "run"), t.Successes, t.Failures)
	for _, more := range []struct {
		n    int
		word string
	}{{t.Ignored, "ignored"}, {t.Late, "late"}, {t.Lost, "lost"}} {
		if more.n > 0 {
			text += fmt.Sprintf(", %d %s", more.n, more.word)
		}
	}
	return fmt.Sprintf("%s; %d skipped; %s", text, t.Refused, plural(t.Trips, "trip"))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// PolicyText writes a policy as the flags that make it.
func PolicyText(p breaker.Policy) string {
	if p == (breaker.Policy{}) {
		return ""
	}
	var words []string
	add := func(given bool, flag, value string) {
		if given {
			words = append(words, "--"+flag+" "+value)
		}
	}
	span := breaker.FormatDuration
	add(p.Threshold > 0, "threshold", itoa(p.Threshold))
	add(p.WindowCalls > 0, "window", itoa(p.WindowCalls))
	add(p.WindowSpan > 0, "window", span(p.WindowSpan))
	add(p.FailureRate > 0, "failure-rate", itoa(p.FailureRate))
	add(p.MinCalls > 0, "min-calls", itoa(p.MinCalls))
	add(p.FailureTTL > 0, "failure-ttl", span(p.FailureTTL))
	add(true, "timeout", span(p.Timeout))
	add(p.Backoff > 1, "backoff", fmt.Sprintf("%g", p.Backoff))
	add(p.Backoff > 1, "max-timeout", span(p.MaxTimeout))
	add(p.Jitter > 0, "jitter", itoa(p.Jitter))
	add(p.Probes > 1, "probes", itoa(p.Probes))
	add(p.Successes > 1 || p.Answers > 0, "successes", Successes(p))
	add(p.ProbeLimit > 0, "probe-limit", span(p.ProbeLimit))
	return strings.Join(words, " ")
}
