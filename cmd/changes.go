package cmd

import (
	"fmt"
	"strings"
	"time"

	"cb/internal/breaker"
	"cb/internal/render"
)

// told is what a manual command says about one circuit: exactly what has
// changed, or that nothing has.
type told struct {
	text    string
	changed bool
}

func tripText(name string, before, after breaker.Circuit, now time.Time) told {
	text := fmt.Sprintf("%s opened: %s; next try at %s", name, after.Reason, render.Clock(after.RetryAt, now))
	if before.State == breaker.Open {
		text = fmt.Sprintf("%s was open; a new period begins: next try at %s", name, render.Clock(after.RetryAt, now))
	}
	return told{text + still(name, after), true}
}

func resetText(name string, before, after breaker.Circuit, now time.Time) told {
	text, changed := name+" was closed already", before.Generation != after.Generation
	calls, failures := before.Window(before.Policy, now)
	all, allFailures := before.Window(breaker.Policy{}, now)
	switch {
	case !changed:
	case before.State != breaker.Closed:
		text = fmt.Sprintf("%s closed: reset after %s%s", name, render.Span(now.Sub(before.OpenedAt)), skipped(before.Skipped))
	case before.Policy.HasWindow() && failures > 0:
		text = fmt.Sprintf("%s was closed; the failures of its window (%d of %d runs) are forgotten", name, failures, calls)
	case before.Streak > 0:
		text = fmt.Sprintf("%s was closed; its failures in a row (%d) are forgotten", name, before.Streak)
	default:
		text = fmt.Sprintf("%s was closed; its failures (%d of %d runs) are forgotten", name, allFailures, all)
	}
	return told{text + still(name, after), changed}
}

func holdText(name string, before, after breaker.Circuit, now time.Time) told {
	if before.Generation == after.Generation {
		return unchangedText(name, after, now)
	}
	return told{fmt.Sprintf("%s is held%s (%s); it was %s",
		name, because(after.Override), untilText(name, after.Override, now), wasText(name, before, now)), true}
}

func disableText(name string, before, after breaker.Circuit, now time.Time) told {
	if before.Generation == after.Generation {
		return unchangedText(name, after, now)
	}
	return told{fmt.Sprintf("%s is disabled%s; every run goes through %s; it was %s",
		name, because(after.Override), untilText(name, after.Override, now), wasText(name, before, now)), true}
}

// unchangedText tells of an override that is as it was.
func unchangedText(name string, c breaker.Circuit, now time.Time) told {
	o := c.Override
	return told{fmt.Sprintf("%s was %s already%s (by %s at %s, %s)",
		name, o.Kind, because(o), o.By, render.Clock(o.Since, now), untilText(name, o, now)), false}
}

func enableText(name string, before, after breaker.Circuit, now time.Time) told {
	if before.Override.Kind == breaker.NoOverride {
		return told{fmt.Sprintf("%s was neither held nor disabled; it is %s", name, before.State), false}
	}
	text := fmt.Sprintf("%s is no longer %s; it is %s", name, before.Override.Kind, after.State)
	switch {
	case after.ProbeDue(now):
		text += ", and the next run is its probe"
	case after.State == breaker.Open:
		text += ", next try at " + render.Clock(after.RetryAt, now)
	}
	return told{text, true}
}

// wasText is what held before a change.
func wasText(name string, before breaker.Circuit, now time.Time) string {
	if before.Override.Kind == breaker.NoOverride {
		return before.State.String()
	}
	return fmt.Sprintf("%s%s (%s)", before.Override.Kind, because(before.Override), untilText(name, before.Override, now))
}

func because(o breaker.Override) string {
	if o.Reason == "" {
		return ""
	}
	return ": " + o.Reason
}

// untilText says how an override ends; none does so silently.
func untilText(name string, o breaker.Override, now time.Time) string {
	if o.Until.IsZero() {
		return "until cb enable " + shellWord(name)
	}
	return "until " + render.Clock(o.Until, now)
}

// still tells of an override that a command has left in place.
func still(name string, after breaker.Circuit) string {
	if after.Override.Kind == breaker.NoOverride {
		return ""
	}
	return fmt.Sprintf("; it is still %s: cb enable %s lifts that", after.Override.Kind, shellWord(name))
}

func circuitsWere(n int) string {
	if n == 1 {
		return "1 circuit was"
	}
	return fmt.Sprintf("%d circuits were", n)
}

// shellWord quotes a name where a shell would need that, so that a command in
// a message can be copied.
func shellWord(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return !plainInShell(r) }) < 0 && !strings.HasPrefix(name, "-") {
		return name
	}
	word := "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	if strings.HasPrefix(name, "-") {
		return "-- " + word
	}
	return word
}

// plainInShell reports whether a shell takes a character for nothing but itself.
func plainInShell(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r > 0x7f ||
		strings.ContainsRune("@%+=:,./_-", r)
}
