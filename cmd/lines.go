package cmd

import (
	"fmt"
	"time"

	"cb/internal/breaker"
	"cb/internal/render"
)

// The lines of cb: lower case, no full stop, the next step when there is one.

// tellTransitions writes a line for each change that people want to know of.
// One outage is one line when it begins and one when it ends.
func (env *Env) tellTransitions(name string, quiet int, before, after breaker.Circuit, now time.Time) {
	for _, t := range breaker.Between(before, after) {
		reopened := t.From == breaker.HalfOpen.String()
		text := ""
		switch {
		case t.From == t.To:
		case t.Cause == breaker.ByExpiry:
			text = fmt.Sprintf("%s is no longer held%s (ended at %s)", name, because(before.Override), render.Clock(t.At, now))
		case t.To == breaker.Closed.String():
			text = fmt.Sprintf("%s closed: %s after %s%s", name, t.Reason, render.Span(now.Sub(before.OpenedAt)), skipped(before.Skipped))
		case t.To != breaker.Open.String() || after.State != breaker.Open:
		case reopened && quiet == 0:
			text = fmt.Sprintf("%s opened again: %s; next try at %s", name, t.Reason, render.Clock(after.RetryAt, now))
		case !reopened:
			text = fmt.Sprintf("%s opened: %s; next try at %s", name, t.Reason, render.Clock(after.RetryAt, now))
		}
		if text != "" && quiet < 2 {
			env.say(text)
		}
	}
}

// refusal says what stands in the way of a run.
func refusal(name string, refused *breaker.OpenError) string {
	c := refused.Circuit
	now := refused.RetryAt.Add(-refused.In)
	switch refused.Refusal {
	case breaker.RefusedHeld:
		return fmt.Sprintf("%s is held%s (%s)", name, because(c.Override), untilText(name, c.Override, now))
	case breaker.RefusedProbe:
		text := name + " is half-open: its probe is taken"
		if len(c.Probes) > 0 {
			probe := c.Probes[len(c.Probes)-1]
			who := fmt.Sprintf("pid %d on %s", probe.PID, probe.Host)
			if !probe.Leased { // its process is over
				who = "by a permit of cb acquire on " + probe.Host
			}
			text += fmt.Sprintf(" since %s (%s)", render.Clock(probe.StartedAt, probe.StartedAt), who)
		}
		return text
	case breaker.RefusedOpen:
	}
	text := name + " is open: " + c.Reason
	if n := len(c.History); n > 0 && c.History[n-1].To == c.State.String() {
		if how := render.How(c, c.History[n-1]); how != "" { // "" when it was tripped by hand
			text += " (last: " + how + ")"
		}
	}
	return text
}

// nextTry says when trying again makes sense.
func nextTry(refused *breaker.OpenError) string {
	if refused.Refusal != breaker.RefusedOpen {
		return ""
	}
	return fmt.Sprintf(", next try in %s at %s", render.Span(refused.In), render.Clock(refused.RetryAt, refused.RetryAt.Add(-refused.In)))
}

func skipped(runs int) string {
	switch runs {
	case 0:
		return ""
	case 1:
		return " (1 run skipped)"
	}
	return fmt.Sprintf(" (%d runs skipped)", runs)
}
