package store

import "cb/internal/breaker"

// The fields of a document in the order in which they are written. The tags of
// the types say the same to encoding/json; a test compares the two.

func (doc *document) fields(c *codec) {
	number(c, "schema", &doc.Schema, keepZero)
	text(c, "name", &doc.Name, keepZero)
	c.object("clock", true, func(c *codec) {
		instant(c, "wall", &doc.Clock.Wall, keepZero)
		text(c, "boot_id", &doc.Clock.BootID, omitZero)
		number(c, "boot", &doc.Clock.Boot, omitZero)
	})
	number(c, "write", &doc.Write, omitZero)
	circuitFields(c, &doc.Circuit)
}

func circuitFields(c *codec, b *breaker.Circuit) {
	state(c, "state", &b.State)
	instant(c, "since", &b.Since, omitZero)
	number(c, "generation", &b.Generation, keepZero)
	number(c, "streak", &b.Streak, keepZero)
	number(c, "fresh", &b.Fresh, keepZero)
	list(c, "used", &b.Used, ticketSize, ticket)
	text(c, "reason", &b.Reason, omitZero)
	instant(c, "opened_at", &b.OpenedAt, omitZero)
	instant(c, "retry_at", &b.RetryAt, omitZero)
	number(c, "period", &b.Period, omitZero)
	number(c, "reopens", &b.Reopens, omitZero)
	number(c, "skipped", &b.Skipped, omitZero)
	c.object("recovery", b.Recovery != breaker.Recovery{}, func(c *codec) { recoveryFields(c, &b.Recovery) })
	list(c, "probes", &b.Probes, probeSize, probe)
	c.object("override", b.Override != breaker.Override{}, func(c *codec) { overrideFields(c, &b.Override) })
	c.object("policy", b.Policy != breaker.Policy{}, func(c *codec) { policyFields(c, &b.Policy) })
	c.object("totals", true, func(c *codec) { totalsFields(c, &b.Totals) })
	optionalCall(c, "last_failure", &b.Failed)
	optionalCall(c, "last_success", &b.Worked)
	list(c, "calls", &b.Calls, callSize, call)
	c.object("keep", b.Keep != breaker.Retention{}, func(c *codec) {
		number(c, "calls", &b.Keep.Calls, omitZero)
		number(c, "span", &b.Keep.Span, omitZero)
	})
	list(c, "history", &b.History, transitionSize, transition)
	number(c, "recorded", &b.Recorded, keepZero)
	c.object("entered", b.Entered != breaker.Entries{}, func(c *codec) { enteredFields(c, &b.Entered) })
}

func ticket(c *codec, t *string) {
	if c.writing {
		c.quote(*t)
	} else {
		*t = c.quoted()
	}
}

func recoveryFields(c *codec, r *breaker.Recovery) {
	number(c, "probes", &r.Probes, keepZero)
	number(c, "needed", &r.Needed, keepZero)
	number(c, "answers", &r.Answers, keepZero)
	number(c, "successes", &r.Successes, keepZero)
	number(c, "failures", &r.Failures, keepZero)
}

func probe(c *codec, p *breaker.Probe) {
	c.open('{')
	text(c, "token", &p.Token, keepZero)
	instant(c, "started_at", &p.StartedAt, keepZero)
	instant(c, "deadline", &p.Deadline, keepZero)
	number(c, "pid", &p.PID, omitZero)
	text(c, "host", &p.Host, omitZero)
	flag(c, "leased", &p.Leased)
	c.close('}')
}

func overrideFields(c *codec, o *breaker.Override) {
	text(c, "kind", &o.Kind, keepZero)
	text(c, "reason", &o.Reason, omitZero)
	text(c, "by", &o.By, omitZero)
	instant(c, "since", &o.Since, keepZero)
	instant(c, "until", &o.Until, omitZero)
}

func policyFields(c *codec, p *breaker.Policy) {
	number(c, "threshold", &p.Threshold, omitZero)
	number(c, "window_calls", &p.WindowCalls, omitZero)
	number(c, "window_span", &p.WindowSpan, omitZero)
	number(c, "failure_rate", &p.FailureRate, omitZero)
	number(c, "min_calls", &p.MinCalls, omitZero)
	number(c, "failure_ttl", &p.FailureTTL, omitZero)
	number(c, "timeout", &p.Timeout, keepZero)
	float(c, "backoff", &p.Backoff)
	number(c, "max_timeout", &p.MaxTimeout, omitZero)
	number(c, "jitter", &p.Jitter, omitZero)
	number(c, "probes", &p.Probes, omitZero)
	number(c, "successes", &p.Successes, omitZero)
	number(c, "answers", &p.Answers, omitZero)
	number(c, "probe_limit", &p.ProbeLimit, omitZero)
}

func totalsFields(c *codec, t *breaker.Totals) {
	number(c, "successes", &t.Successes, keepZero)
	number(c, "failures", &t.Failures, keepZero)
	number(c, "ignored", &t.Ignored, keepZero)
	number(c, "late", &t.Late, keepZero)
	number(c, "lost", &t.Lost, keepZero)
	number(c, "refused", &t.Refused, keepZero)
	number(c, "trips", &t.Trips, keepZero)
}

func transition(c *codec, t *breaker.Transition) {
	c.open('{')
	instant(c, "at", &t.At, keepZero)
	text(c, "from", &t.From, keepZero)
	text(c, "to", &t.To, keepZero)
	text(c, "cause", &t.Cause, keepZero)
	text(c, "reason", &t.Reason, omitZero)
	text(c, "by", &t.By, omitZero)
	number(c, "generation", &t.Generation, keepZero)
	number(c, "streak", &t.Streak, keepZero)
	number(c, "refused", &t.Refused, keepZero)
	number(c, "exit_code", &t.Code, keepZero)
	c.close('}')
}

func enteredFields(c *codec, e *breaker.Entries) {
	number(c, "closed", &e.Closed, keepZero)
	number(c, "open", &e.Open, keepZero)
	number(c, "half_open", &e.HalfOpen, keepZero)
	number(c, "held", &e.Held, keepZero)
	number(c, "disabled", &e.Disabled, keepZero)
}
