// Package breaker is the circuit breaker itself: a state machine whose state
// is a value. It has no clock, no timer, no lock and no I/O; time and
// randomness are arguments, and half-open is reached by asking.
package breaker

import (
	"slices"
	"time"
)

// Circuit is the persisted snapshot of one breaker. The zero value is a closed
// circuit that has seen nothing. Its methods return the next circuit; they
// never change their receiver or share memory with it.
type Circuit struct {
	State      State     `json:"state"`
	Since      time.Time `json:"since,omitzero"` // when State began; zero: it has always been closed
	Generation uint64    `json:"generation"`     // dates permits; below 2^53; zero: nothing was permitted yet

	// While closed: what the trip rules judge.
	Streak int `json:"streak"` // failures in a row
	Fresh  int `json:"fresh"`  // how many of the newest Calls the windows may use
	// Used are the newest tickets of this generation that have had their result.
	Used []string `json:"used,omitempty"`

	// While open and half-open.
	Reason   string        `json:"reason,omitempty"`      // why it opened last
	OpenedAt time.Time     `json:"opened_at,omitzero"`    // when it left closed
	RetryAt  time.Time     `json:"retry_at,omitzero"`     // when the open period is over
	Period   time.Duration `json:"period,omitempty"`      // the open period as drawn
	Reopens  int           `json:"reopens,omitempty"`     // backoff steps taken
	Skipped  int           `json:"skipped,omitempty"`     // refusals since OpenedAt
	Recovery Recovery      `json:"recovery,omitzero"`     // while half-open: numbers frozen at its start
	Probes   []Probe       `json:"probes,omitempty"`      // while half-open: the unanswered ones
	Override Override      `json:"override,omitzero"`     // the manual layer above
	Policy   Policy        `json:"policy,omitzero"`       // as last used
	Totals   Totals        `json:"totals"`                // never cleared
	Failed   *Call         `json:"last_failure,omitzero"` // the last failure that counted
	Worked   *Call         `json:"last_success,omitzero"` // the last success that counted

	Calls    []Call       `json:"calls,omitempty"`   // kept outcomes, newest last; the newest Fresh are judged
	Keep     Retention    `json:"keep,omitzero"`     // how many of them, as asked by the policies seen
	History  []Transition `json:"history,omitempty"` // newest last, at most maxHistory
	Recorded int          `json:"recorded"`          // transitions ever
	Entered  Entries      `json:"entered,omitzero"`  // those of them that changed what holds, by what held then
}

// Permit is leave to run the command once. Its zero value is never issued.
type Permit struct {
	Generation uint64 // a result that carries an older one is late
	Probe      string // token of the probe; empty for a run permitted while closed
	// Ticket tells a run permitted while closed from others, when Caller asked
	// for that; a second result with the same ticket is late.
	Ticket string
	// Through marks a run that the circuit only counts: it is disabled, or the
	// run was started by its own probe.
	Through bool
}

// Caller describes who asks for a permit.
type Caller struct {
	PID    int      // for people
	Host   string   // for people
	Leased bool     // a lease will tell when the caller dies
	Ticket bool     // the result may come from elsewhere, and twice
	Tokens []string // probes that the caller runs under
}

// Refusal says why a run was not permitted.
type Refusal uint8

// The refusals.
const (
	RefusedOpen  Refusal = iota // the open period is not over
	RefusedHeld                 // an operator holds the circuit
	RefusedProbe                // half-open, and its probes are taken
)

// OpenError is the only error of Admit: the run is refused.
type OpenError struct {
	Refusal Refusal
	Circuit Circuit       // as it stands, to explain the refusal
	RetryAt time.Time     // zero when nobody knows: held without end, or a probe is running
	In      time.Duration // from now to RetryAt
}

// Error says why in a few words, without the circuit's name, which it does not know.
func (e *OpenError) Error() string {
	switch e.Refusal {
	case RefusedHeld:
		return "circuit is held"
	case RefusedProbe:
		return "circuit is half-open and its probe is taken"
	case RefusedOpen:
	}
	return "circuit is open"
}

// Admit asks for leave to run now. Randomness (generation, token, jitter) is
// drawn from seed. The error is nil or *OpenError; also a refusal changes the
// circuit, because it is counted.
func (c Circuit) Admit(p Policy, now time.Time, who Caller, seed uint64) (Circuit, Permit, error) {
	next, d := c.At(now, seed), draw(seed)
	if next.Generation == 0 {
		next.advance(&d)
	}
	if next.Override.Kind == Disabled || next.runsUnder(who.Tokens) {
		return next, Permit{Generation: next.Generation, Through: true}, nil
	}
	next.Policy = p
	next.Keep = next.Keep.widen(p)
	if next.Override.Kind == Held {
		return next.refuse(RefusedHeld, next.Override.Until, now)
	}
	next.reap(now, &d)
	if next.State == Open && !now.Before(next.RetryAt) {
		next.Recovery = Recovery{Probes: max(p.Probes, 1), Needed: max(p.Successes, 1), Answers: p.answers()}
		next.Period = p.period(next.Reopens, &d)
		next.move(HalfOpen, Transition{At: now, Cause: ByTimeout, Code: NoCode}, &d)
	}
	switch next.State {
	case Closed:
		permit := Permit{Generation: next.Generation}
		if who.Ticket {
			permit.Ticket = d.token()
		}
		return next, permit, nil
	case HalfOpen:
		if next.slots(now) == 0 {
			return next.refuse(RefusedProbe, time.Time{}, now)
		}
		probe := newProbe(p, now, who, &d)
		next.Probes = append(next.Probes, probe)
		next.forgetOverdue(now)
		return next, Permit{Generation: next.Generation, Probe: probe.Token}, nil
	case Open:
	}
	return next.refuse(RefusedOpen, next.RetryAt, now)
}

// Record enters the outcome of a permitted run; call.At is now. Rules and
// periods are those of p, the policy of that same run. A permit of an older
// generation, or of a probe that is no longer listed, changes totals only.
func (c Circuit) Record(p Policy, permit Permit, call Call, seed uint64) Circuit {
	next, d := c.clamped(call.At), draw(seed)
	switch {
	case permit.Through:
		next.Totals.count(call.Outcome)
		return next
	case permit.Generation != next.Generation || permit.Ticket != "" && slices.Contains(next.Used, permit.Ticket):
		next.Totals.Late++
		return next
	case next.Override.Kind == Disabled: // frozen; only an outcome recorded by hand comes here
		next.Totals.count(call.Outcome)
		return next
	}
	if permit.Ticket != "" {
		next.Used = append(next.Used, permit.Ticket)
		next.Used = next.Used[max(0, len(next.Used)-maxUsed):]
	}
	switch next.State {
	case Open:
		next.Totals.count(call.Outcome)
	case HalfOpen:
		next.answer(p, permit, call, &d)
	case Closed:
		next.Totals.count(call.Outcome)
		next.judge(p, call, &d)
	}
	return next
}

// Observe enters an outcome that was seen elsewhere, as a run of the current
// generation would, under the policy last used.
func (c Circuit) Observe(call Call, seed uint64) Circuit {
	next := c.At(call.At, seed)
	return next.Record(next.usedPolicy(), Permit{Generation: next.Generation}, call, seed)
}

// judge enters the outcome of a run permitted while closed.
func (c *Circuit) judge(p Policy, call Call, d *draw) {
	if call.Outcome == Ignored {
		return
	}
	stale := c.Failed != nil && p.FailureTTL > 0 && call.At.Sub(c.Failed.At) > p.FailureTTL
	c.note(call)
	c.Fresh = min(c.Fresh+1, len(c.Calls))
	if !call.Outcome.Failed() {
		c.Streak = 0
		return
	}
	if stale {
		c.Streak = 0
	}
	c.Streak++
	if why := p.trips(c, call.At); why != "" {
		c.open(p.period(0, d), call.At, Transition{At: call.At, Cause: ByRun, Reason: why, Code: call.Code}, d)
	}
}

// Skip counts n refusals that changed nothing else.
func (c Circuit) Skip(n int) Circuit {
	next := c.clone()
	next.skip(n)
	return next
}

func (c *Circuit) skip(n int) {
	c.Totals.Refused += n
	if c.State != Closed {
		c.Skipped += n
	}
}

func (c Circuit) refuse(why Refusal, retryAt, now time.Time) (Circuit, Permit, error) {
	c.skip(1)
	refused := &OpenError{Refusal: why, Circuit: c, RetryAt: retryAt}
	if !retryAt.IsZero() {
		refused.In = retryAt.Sub(now)
	}
	return c, Permit{}, refused
}
