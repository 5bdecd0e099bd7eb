package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"cb/internal/breaker"
)

// View is a circuit to be shown, as it stands at an instant.
type View struct {
	Name    string
	Circuit breaker.Circuit
	Now     time.Time
}

// The documented schema of `cb status --json`: every key is always there, null
// stands for what does not apply, instants are RFC 3339, durations seconds.
type statusJSON struct {
	Name             string            `json:"name"`
	State            string            `json:"state"`
	UnderlyingState  breaker.State     `json:"underlying_state"`
	ProbeDue         bool              `json:"probe_due"`
	Since            *time.Time        `json:"since"`
	Reason           *string           `json:"reason"`
	RetryAt          *time.Time        `json:"retry_at"`
	RetryIn          *float64          `json:"retry_in_seconds"`
	Streak           int               `json:"streak"`
	Window           windowJSON        `json:"window"`
	Probes           []probeJSON       `json:"probes"`
	Generation       uint64            `json:"generation"`
	Override         *overrideJSON     `json:"override"`
	Policy           policyJSON        `json:"policy"`
	Totals           totalsJSON        `json:"totals"`
	RefusedSinceOpen int               `json:"refused_since_open"`
	LastFailure      *callJSON         `json:"last_failure"`
	LastSuccessAt    *time.Time        `json:"last_success_at"`
	Calls            []outcomeCallJSON `json:"calls"`
}

type windowJSON struct {
	Calls    int     `json:"calls"`
	Failures int     `json:"failures"`
	Rate     float64 `json:"rate"` // percent
}

type probeJSON struct {
	StartedAt time.Time `json:"started_at"`
	PID       int       `json:"pid"`
	Host      string    `json:"host"`
}

type overrideJSON struct {
	Kind   breaker.OverrideKind `json:"kind"`
	Reason string               `json:"reason"`
	By     string               `json:"by"`
	Since  time.Time            `json:"since"`
	Until  *time.Time           `json:"until"`
}

type policyJSON struct {
	Threshold   *int     `json:"threshold"`
	WindowCalls *int     `json:"window"`
	WindowSpan  *float64 `json:"window_seconds"`
	FailureRate *int     `json:"failure_rate"`
	MinCalls    *int     `json:"min_calls"`
	FailureTTL  *float64 `json:"failure_ttl_seconds"`
	Timeout     *float64 `json:"timeout_seconds"`
	Backoff     *float64 `json:"backoff"`
	MaxTimeout  *float64 `json:"max_timeout_seconds"`
	Jitter      *int     `json:"jitter"`
	Probes      *int     `json:"probes"`
	Successes   *string  `json:"successes"`
	ProbeLimit  *float64 `json:"probe_limit_seconds"`
}

type totalsJSON struct {
	Runs int `json:"runs"`
	breaker.Totals
}

type callJSON struct {
	At       time.Time `json:"at"`
	ExitCode *int      `json:"exit_code"`
	Seconds  *float64  `json:"seconds"`
}

type outcomeCallJSON struct {
	At       time.Time       `json:"at"`
	Outcome  breaker.Outcome `json:"outcome"`
	ExitCode *int            `json:"exit_code"`
	Seconds  *float64        `json:"seconds"`
}

// Array writes the circuits of cb status --json one by one, so that ten
// thousand of them are never held at a time.
type Array struct {
	w     *bufio.Writer
	begun bool
}

// NewArray returns an array that is written to w.
func NewArray(w io.Writer) *Array { return &Array{w: bufio.NewWriter(w)} }

// Add writes one circuit.
func (a *Array) Add(v View) error {
	separator := ",\n  "
	if !a.begun {
		separator, a.begun = "[\n  ", true
	}
	var text bytes.Buffer
	text.WriteString(separator)
	if err := encode(&text, "  ", v.json()); err != nil {
		return err
	}
	if _, err := a.w.Write(bytes.TrimSuffix(text.Bytes(), []byte("\n"))); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// End completes the array.
func (a *Array) End() error {
	end := "\n]\n"
	if !a.begun {
		end = "[]\n"
	}
	_, err := a.w.WriteString(end)
	if err == nil {
		err = a.w.Flush()
	}
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

func (v View) json() statusJSON {
	c := v.Circuit
	row := statusJSON{
		Name: v.Name, State: c.Shown(), UnderlyingState: c.State,
		ProbeDue: v.probeDue(), Since: known(v.since()), Reason: text(c.Reason),
		Streak: c.Streak, Generation: c.Generation, Policy: policyOf(c.Policy),
		Totals: totalsJSON{c.Totals.Runs(), c.Totals}, RefusedSinceOpen: c.Skipped,
		Probes: []probeJSON{}, Calls: []outcomeCallJSON{},
	}
	if c.State == breaker.Open {
		in := max(0, c.RetryAt.Sub(v.Now).Seconds())
		row.RetryAt, row.RetryIn = known(c.RetryAt), &in
	}
	row.Window.Calls, row.Window.Failures = c.Window(c.Policy, v.Now)
	row.Window.Rate = percent(row.Window.Failures, row.Window.Calls)
	for _, probe := range c.Probes {
		row.Probes = append(row.Probes, probeJSON{probe.StartedAt.UTC(), probe.PID, probe.Host})
	}
	if o := c.Override; o.Kind != breaker.NoOverride {
		row.Override = &overrideJSON{o.Kind, o.Reason, o.By, o.Since.UTC(), known(o.Until)}
	}
	if c.Failed != nil {
		row.LastFailure = &callJSON{c.Failed.At.UTC(), code(c.Failed.Code), took(*c.Failed)}
	}
	if c.Worked != nil {
		row.LastSuccessAt = known(c.Worked.At)
	}
	for _, call := range c.Calls {
		row.Calls = append(row.Calls, outcomeCallJSON{call.At.UTC(), call.Outcome, code(call.Code), took(call)})
	}
	return row
}

// since returns when what holds now began; zero when it always has.
func (v View) since() time.Time {
	if v.Circuit.Override.Kind != breaker.NoOverride {
		return v.Circuit.Override.Since
	}
	return v.Circuit.Since
}

// policyOf returns the numbers of a policy; all are null while none was used.
func policyOf(p breaker.Policy) policyJSON {
	if p == (breaker.Policy{}) {
		return policyJSON{}
	}
	successes := Successes(p)
	return policyJSON{
		Threshold: number(p.Threshold), WindowCalls: number(p.WindowCalls), WindowSpan: seconds(p.WindowSpan),
		FailureRate: number(p.FailureRate), MinCalls: number(p.MinCalls), FailureTTL: seconds(p.FailureTTL),
		Timeout: seconds(p.Timeout), Backoff: &p.Backoff, MaxTimeout: seconds(p.MaxTimeout), Jitter: &p.Jitter,
		Probes: &p.Probes, Successes: &successes, ProbeLimit: seconds(p.ProbeLimit),
	}
}

// Successes writes the recovery rule as --successes takes it.
func Successes(p breaker.Policy) string {
	if p.Answers > 0 {
		return fmt.Sprintf("%d/%d", p.Successes, p.Answers)
	}
	return strconv.Itoa(p.Successes)
}

// encode writes a value for people too: indented, and with <, > and & as they are.
func encode(w io.Writer, prefix string, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent(prefix, "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// percent returns the share in percent, to a tenth; 0 of 0 is 0.
func percent(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return math.Round(float64(part)*1000/float64(whole)) / 10
}

// The helpers below turn "not there" into JSON's null.

func known(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	at = at.UTC()
	return &at
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func number(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

func seconds(d time.Duration) *float64 {
	if d == 0 {
		return nil
	}
	s := d.Seconds()
	return &s
}

// took returns how long a call ran; one that was recorded by hand may not tell.
func took(call breaker.Call) *float64 {
	if call.Took == 0 && call.Code == breaker.NoCode {
		return nil
	}
	s := call.Took.Seconds()
	return &s
}

func code(n int) *int {
	if n == breaker.NoCode {
		return nil
	}
	return &n
}
