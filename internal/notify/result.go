package notify

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Result is what the result file tells of a run. A nil field is null: it does
// not apply, or nobody knows.
type Result struct {
	Name        string     `json:"name"`
	Ran         bool       `json:"ran"`          // the command was started
	Refused     bool       `json:"refused"`      // by the circuit
	Reason      *string    `json:"reason"`       // why it was not started
	Outcome     *string    `json:"outcome"`      // success, failure, slow or ignored
	ExitCode    int        `json:"exit_code"`    // the one that stands without a fallback
	Signal      *int       `json:"signal"`       // the number of the signal that the command died of; null when the time limit ended it
	Seconds     *float64   `json:"seconds"`      // how long it ran
	Probe       bool       `json:"probe"`        // the run was one
	StateBefore *string    `json:"state_before"` // what held before the run asked
	StateAfter  *string    `json:"state_after"`  // and once its outcome was recorded
	RetryAt     *time.Time `json:"retry_at"`     // when trying again makes sense, in an open or held circuit
	Fallback    *Fallback  `json:"fallback"`     // the one that stood in
	Warnings    []string   `json:"warnings"`     // what cb warned of on stderr
}

// Fallback is what stood in for a command.
type Fallback struct {
	Kind     string `json:"kind"` // command, cached or text
	ExitCode int    `json:"exit_code"`
}

// Write writes the result as one line of JSON.
func (r Result) Write(w io.Writer) error {
	if r.Warnings == nil {
		r.Warnings = []string{}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}
