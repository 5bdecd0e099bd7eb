package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cb/internal/breaker"
)

// What is told of single runs.

// how tells in parentheses how the run ended that made a transition.
func (v View) how(t breaker.Transition) string {
	if how := How(v.Circuit, t); how != "" {
		return " (" + how + ")"
	}
	return ""
}

// How tells how the run ended that made a transition: "exit 7", but what was
// wrong with it where the exit code does not say; "" when there was no run.
func How(c breaker.Circuit, t breaker.Transition) string {
	if t.Code == breaker.NoCode {
		return ""
	}
	for _, call := range slices.Backward(c.Calls) {
		switch {
		case !call.At.Equal(t.At):
		case call.Outcome == breaker.Slow:
			return "slow: " + exact(call.Took)
		case call.Outcome == breaker.Failure && call.Code == 0 && t.Code == 0:
			return "output matched, exit 0"
		}
	}
	return fmt.Sprintf("exit %d", t.Code)
}

func (v View) probesText() string {
	texts := make([]string, len(v.Circuit.Probes))
	for i, probe := range v.Circuit.Probes {
		who := fmt.Sprintf("pid %d on", probe.PID)
		if !probe.Leased {
			who = "a permit of cb acquire on" // its process is over
		}
		texts[i] = fmt.Sprintf("%s %s for %s", who, Safe(probe.Host), Span(v.Now.Sub(probe.StartedAt)))
		if probe.Overdue(v.Now) {
			texts[i] += ", overdue"
		}
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
	switch {
	case call.Outcome == breaker.Slow:
		text = "slow: " + text
	case call.Code == 0:
		text = "output matched: " + text
	}
	return text + v.ago(call.At)
}

// latency sums up how long the kept runs took.
func latency(calls []breaker.Call) string {
	var took []time.Duration
	for _, call := range calls {
		if call.Code != breaker.NoCode || call.Took > 0 {
			took = append(took, call.Took)
		}
	}
	if len(took) == 0 {
		return ""
	}
	slices.Sort(took)
	median := took[len(took)/2]
	if len(took)%2 == 0 {
		median = (took[len(took)/2-1] + median) / 2
	}
	return fmt.Sprintf("min %s, median %s, max %s of %s",
		exact(took[0]), exact(median), exact(took[len(took)-1]), plural(len(took), "run"))
}
