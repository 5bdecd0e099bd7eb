package breaker

import "time"

// minKept is how many outcomes a circuit keeps for people whatever its
// policies ask.
const minKept = 32

// Retention is how many outcomes the policies seen so far can make use of.
// Circuits are shared by invocations with different policies, so it only
// grows, until a reset.
type Retention struct {
	Calls int           `json:"calls,omitempty"`
	Span  time.Duration `json:"span,omitempty"`
}

func (r Retention) widen(p Policy) Retention {
	return Retention{Calls: max(r.Calls, p.WindowCalls), Span: max(r.Span, p.WindowSpan)}
}

// note keeps an outcome that counted and drops those that no rule and no
// reader can ask for any more.
func (c *Circuit) note(call Call) {
	if call.Outcome.Failed() {
		c.Failed = &call
	} else {
		c.Worked = &call
	}
	c.Calls = append(c.Calls, call)
	least := max(minKept, c.Keep.Calls)
	drop := max(0, len(c.Calls)-MaxOutcomes)
	for len(c.Calls)-drop > least && !c.Calls[drop].At.After(call.At.Add(-c.Keep.Span)) {
		drop++
	}
	c.Calls = c.Calls[drop:]
}

// Window counts the outcomes that the windows of p would judge at an instant:
// those since the circuit closed, within (now-span, now] or among the last N.
// Without a window in p it counts all of them.
func (c Circuit) Window(p Policy, now time.Time) (calls, failures int) {
	judged := c.Calls[len(c.Calls)-c.Fresh:]
	if p.WindowCalls > 0 {
		judged = judged[max(0, len(judged)-p.WindowCalls):]
	}
	for _, call := range judged {
		if p.WindowSpan > 0 && (call.At.After(now) || !call.At.After(now.Add(-p.WindowSpan))) {
			continue
		}
		calls++
		if call.Outcome.Failed() {
			failures++
		}
	}
	return calls, failures
}
