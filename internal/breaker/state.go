package breaker

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// State is the automatic state of a circuit. The zero value is Closed.
type State uint8

// The three states; an Override lies above them and is not a state.
const (
	Closed   State = iota // runs are permitted
	Open                  // runs are refused until the open period is over
	HalfOpen              // a limited number of probes is permitted
)

// String returns the word for the state that users see.
func (s State) String() string {
	switch s {
	case Closed:
		return "closed"
	case Open:
		return "open"
	case HalfOpen:
		return "half-open"
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// MarshalText writes the word of String.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the words that String writes and nothing else.
func (s *State) UnmarshalText(text []byte) error {
	for _, known := range []State{Closed, Open, HalfOpen} {
		if string(text) == known.String() {
			*s = known
			return nil
		}
	}
	return fmt.Errorf("unknown state %q", text)
}

// Outcome is what a run means for its circuit. The zero value is Success.
type Outcome uint8

// The outcomes. Slow is a failure that has its own word, because its exit
// code may be 0.
const (
	Success Outcome = iota
	Failure
	Slow
	Ignored // no verdict: neither a success nor a failure
)

// Failed reports whether the outcome counts as a failure.
func (o Outcome) Failed() bool { return o == Failure || o == Slow }

// String returns the word for the outcome that users see.
func (o Outcome) String() string {
	switch o {
	case Success:
		return "success"
	case Failure:
		return "failure"
	case Slow:
		return "slow"
	case Ignored:
		return "ignored"
	}
	return fmt.Sprintf("Outcome(%d)", uint8(o))
}

// MarshalText writes the word of String.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the words that String writes and nothing else.
func (o *Outcome) UnmarshalText(text []byte) error { return o.set(string(text)) }

func (o *Outcome) set(word string) error {
	for _, known := range []Outcome{Success, Failure, Slow, Ignored} {
		if word == known.String() {
			*o = known
			return nil
		}
	}
	return fmt.Errorf("unknown outcome %q", word)
}

// NoCode is the exit code of a call of which none is known: an outcome that
// was recorded by hand.
const NoCode = -1

// Call is one answered run.
type Call struct {
	At      time.Time     // when it ended
	Outcome Outcome       // what it means
	Code    int           // exit code, or NoCode
	Took    time.Duration // how long it ran
}

// AppendText writes the call as one line, "INSTANT OUTCOME CODE DURATION": a
// full window has a thousand of them, and people read them in the state file.
// The error is always nil.
func (c Call) AppendText(text []byte) ([]byte, error) {
	text = c.At.UTC().AppendFormat(text, time.RFC3339Nano)
	text = append(append(text, ' '), c.Outcome.String()...)
	text = strconv.AppendInt(append(text, ' '), int64(c.Code), 10)
	return append(append(text, ' '), c.Took.String()...), nil
}

// MarshalText writes the line of AppendText.
func (c Call) MarshalText() ([]byte, error) { return c.AppendText(make([]byte, 0, 64)) }

// UnmarshalText reads what AppendText writes.
func (c *Call) UnmarshalText(text []byte) (err error) {
	*c, err = ParseCall(string(text))
	return err
}

// ParseCall reads what AppendText writes.
func ParseCall(text string) (c Call, err error) {
	at, rest, _ := strings.Cut(text, " ")
	outcome, rest, _ := strings.Cut(rest, " ")
	code, took, ok := strings.Cut(rest, " ")
	if !ok {
		return c, fmt.Errorf("read call %q: not four words", text)
	}
	if c.At, err = time.Parse(time.RFC3339Nano, at); err != nil {
		return c, fmt.Errorf("read call: %w", err)
	}
	if err = c.Outcome.set(outcome); err != nil {
		return c, fmt.Errorf("read call: %w", err)
	}
	if c.Code, err = strconv.Atoi(code); err != nil {
		return c, fmt.Errorf("read call: %w", err)
	}
	if c.Took, err = time.ParseDuration(took); err != nil {
		return c, fmt.Errorf("read call: %w", err)
	}
	return c, nil
}

// OverrideKind says which manual layer lies above the automatic state. The
// zero value, NoOverride, is none.
type OverrideKind string

// The kinds of override.
const (
	NoOverride OverrideKind = ""
	Held       OverrideKind = "held"     // every run is refused
	Disabled   OverrideKind = "disabled" // every run is permitted, the circuit is frozen
)

// Override is a manual layer above the automatic state. The zero value is none.
type Override struct {
	Kind   OverrideKind `json:"kind"`
	Reason string       `json:"reason,omitempty"`
	By     string       `json:"by,omitempty"`
	Since  time.Time    `json:"since"`
	Until  time.Time    `json:"until,omitzero"` // zero: until enabled
}

// Probe is a run that was permitted while half-open and has not answered.
type Probe struct {
	Token     string    `json:"token"`
	StartedAt time.Time `json:"started_at"`
	Deadline  time.Time `json:"deadline"`         // from here on it is overdue and holds no slot
	PID       int       `json:"pid,omitempty"`    // for people
	Host      string    `json:"host,omitempty"`   // for people
	Leased    bool      `json:"leased,omitempty"` // a lease tells whether its process lives

	// lost is set by Circuit.Lose after loading and is never stored.
	lost bool
}

// Overdue reports whether the probe has been unanswered for so long that it
// holds no slot any more.
func (p Probe) Overdue(now time.Time) bool { return !now.Before(p.Deadline) }

// Transition is one change of state or override, newest last in a history.
// From and To are words of State.String, or "held" and "disabled".
type Transition struct {
	At         time.Time `json:"at"`
	From       string    `json:"from"`
	To         string    `json:"to"`
	Cause      Cause     `json:"cause"`
	Reason     string    `json:"reason,omitempty"`
	By         string    `json:"by,omitempty"` // who, when Cause is Operator
	Generation uint64    `json:"generation"`   // the one that began here
	Streak     int       `json:"streak"`       // failures in a row that led here
	Refused    int       `json:"refused"`      // Totals.Refused at this moment
	Code       int       `json:"exit_code"`    // of the run that caused it, or NoCode
}

// Cause says what made a transition.
type Cause string

// The causes.
const (
	ByRun      Cause = "run"        // the outcome of a run while closed
	ByProbe    Cause = "probe"      // the outcome of a probe
	ByLost     Cause = "lost probe" // a probe whose process died
	ByTimeout  Cause = "timeout"    // an admission after the open period
	ByOperator Cause = "operator"   // a manual command
	ByExpiry   Cause = "expiry"     // the end of a hold that had one
)

// Totals count what happened since the circuit was first seen. Each admitted
// run ends in exactly one of the first five.
type Totals struct {
	Successes int `json:"successes"`
	Failures  int `json:"failures"`
	Ignored   int `json:"ignored"`
	Late      int `json:"late"` // results that carried an older generation
	Lost      int `json:"lost"` // probes whose process died
	Refused   int `json:"refused"`
	Trips     int `json:"trips"` // closed to open, by a run or by hand
}

// Runs returns how many runs were permitted and are over.
func (t Totals) Runs() int { return t.Successes + t.Failures + t.Ignored + t.Late + t.Lost }

func (t *Totals) count(o Outcome) {
	switch o {
	case Success:
		t.Successes++
	case Failure, Slow:
		t.Failures++
	case Ignored:
		t.Ignored++
	}
}

// Entries count how often each state and override was entered.
type Entries struct {
	Closed   int `json:"closed"`
	Open     int `json:"open"`
	HalfOpen int `json:"half_open"`
	Held     int `json:"held"`
	Disabled int `json:"disabled"`
}

// count takes one of the words of Transition.To.
func (e *Entries) count(to string) {
	switch to {
	case Closed.String():
		e.Closed++
	case Open.String():
		e.Open++
	case HalfOpen.String():
		e.HalfOpen++
	case string(Held):
		e.Held++
	case string(Disabled):
		e.Disabled++
	}
}
