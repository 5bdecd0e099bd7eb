package render

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"cb/internal/breaker"
)

// detailStrip is how many outcomes the detail view shows, detailIndent where
// its values begin.
const (
	detailStrip  = 32
	detailIndent = 16
)

// StatusDetail writes everything about one circuit, a line each.
func StatusDetail(w io.Writer, v View, style Style) error {
	c := v.Circuit
	var out strings.Builder
	state := glyph(c) + " " + c.Shown()
	if style.Colour {
		state = paint(stateColour(c), state)
	}
	fmt.Fprintf(&out, "%s  %s", Safe(v.Name), state)
	if since := v.since(); !since.IsZero() {
		fmt.Fprintf(&out, " since %s (%s)", Clock(since, v.Now), Span(v.Now.Sub(since)))
	}
	if v.probeDue() {
		out.WriteString(", probe due")
	}
	out.WriteString("\n\n")
	for _, row := range v.detail(style) {
		if row[1] == "" {
			continue
		}
		label := fmt.Sprintf("%-13s", row[0])
		if style.Colour {
			label = paint(faint, label)
		}
		fmt.Fprintf(&out, "  %s %s\n", label, wrapped(row[1], style.Width, detailIndent))
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
		last = paintStrip(last) // one word: it is never wrapped
	}
	return [][2]string{
		{"override", v.overrideText()},
		{"below it", v.below()},
		{"last trip", v.lastTrip()},
		{"re-opened", v.reopened()},
		{"next try", v.nextTryAt()},
		{"skipped", v.sinceOpen()},
		{"probes", v.probesText()},
		{v.streakText()[0], v.streakText()[1]},
		{"last outcomes", last},
		{"last failure", v.lastFailure()},
		{"last success", v.lastSuccess()},
		{"latency", latency(c.Calls)},
		{"totals", totals(c.Totals)},
		{"policy", PolicyText(c.Policy)},
	}
}

// wrapped breaks a text between words where a line would be wider than most
// columns, and indents what follows; 0 sets no limit.
func wrapped(text string, most, indent int) string {
	if most <= indent || indent+textWidth(text) <= most {
		return text
	}
	var out strings.Builder
	column := indent
	for i, word := range strings.Split(text, " ") {
		switch width := textWidth(word); {
		case i == 0:
			column += width
		case column+1+width > most:
			out.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent + width
		default:
			out.WriteByte(' ')
			column += 1 + width
		}
		out.WriteString(word)
	}
	return out.String()
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
	return fmt.Sprintf("%s, until %s (%s left)", text, Clock(o.Until, v.Now), Span(o.Until.Sub(v.Now)))
}

// below returns the state that an override hides.
func (v View) below() string {
	if v.Circuit.Override.Kind == breaker.NoOverride {
		return ""
	}
	return v.Circuit.State.String()
}

// lastTrip tells why the circuit opened the last time, by a run or by hand, as
// far as its history reaches.
func (v View) lastTrip() string {
	t, ok := v.Circuit.LastTrip()
	if !ok {
		return ""
	}
	why := Safe(t.Reason)
	if t.Cause == breaker.ByOperator {
		why = "by hand, " + Safe(t.By)
		if t.Reason != "" {
			why += ": " + Safe(t.Reason)
		}
	}
	return fmt.Sprintf("%s%s, %s", why, v.how(t), v.ago(t.At))
}

// reopened tells of the probe that is lost, or those that have failed since the trip.
func (v View) reopened() string {
	c := v.Circuit
	switch {
	case c.State == breaker.Open && c.Reason == breaker.ProbeLost:
		return c.Reason + ", " + v.ago(c.Since)
	case c.State == breaker.Closed || c.Reopens == 0:
		return ""
	}
	for _, t := range slices.Backward(c.History) {
		if t.To == breaker.Open.String() && t.Cause == breaker.ByProbe {
			return fmt.Sprintf("%s, last: %s%s, %s", plural(c.Reopens, "time"), Safe(t.Reason), v.how(t), v.ago(t.At))
		}
	}
	return plural(c.Reopens, "time")
}

func (v View) ago(at time.Time) string {
	return Span(v.Now.Sub(at)) + " ago at " + Clock(at, v.Now)
}

func (v View) nextTryAt() string {
	c := v.Circuit
	switch {
	case c.State == breaker.Closed || c.Override.Kind != breaker.NoOverride:
		return ""
	case c.ProbeDue(v.Now):
		return "now: the next run is the probe"
	case c.State == breaker.HalfOpen:
		at := c.SlotAt(v.Now)
		return fmt.Sprintf("when a probe has ended, in %s at %s at the latest", Span(at.Sub(v.Now)), Clock(at, v.Now))
	}
	return fmt.Sprintf("in %s at %s (open period %s)", Span(c.RetryAt.Sub(v.Now)), Clock(c.RetryAt, v.Now), exact(c.Period))
}

func (v View) sinceOpen() string {
	c := v.Circuit
	if c.State == breaker.Closed {
		return ""
	}
	return fmt.Sprintf("%s since it opened at %s", plural(c.Skipped, "run"), Clock(c.OpenedAt, v.Now))
}

// streakText returns what the trip rules judge, under its title.
func (v View) streakText() [2]string {
	c := v.Circuit
	switch {
	case c.State != breaker.Closed:
		return [2]string{} // cleared, and not judged
	case !c.Policy.HasWindow():
		return [2]string{"streak", plural(c.Streak, "failure") + " in a row"}
	}
	calls, failures := c.Window(c.Policy, v.Now)
	return [2]string{"window", fmt.Sprintf("%d of %s failed (%g%%)", failures, plural(calls, "run"), percent(failures, calls))}
}

func (v View) lastSuccess() string {
	if v.Circuit.Worked == nil {
		return ""
	}
	return v.ago(v.Circuit.Worked.At)
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
