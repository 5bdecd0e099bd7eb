package notify

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"cb/internal/breaker"
	"cb/internal/process"
)

// hookGrace is how long a hook has to end after its limit before it is killed.
const hookGrace = time.Second

// Hooks are the shell commands that transitions start; an empty one is none.
type Hooks struct {
	Open     string // closed to open; a re-open is the same outage still
	HalfOpen string
	Close    string
	// Limit is how long one may run; its whole tree is ended then.
	Limit time.Duration
}

// Any reports whether there is one.
func (h Hooks) Any() bool { return h.Open != "" || h.HalfOpen != "" || h.Close != "" }

// Change is one update of a circuit and what its hooks are given.
type Change struct {
	Name          string
	Before, After breaker.Circuit
	Environ       []string     // without CIRCUIT_* of another run
	Output        *os.File     // for both streams of a hook
	Warn          func(string) // told in one line what did not work
}

// Run runs the hook of each transition of a change, oldest first, and waits
// for it. The lock must be free and the state in place: a hook may call cb. It
// returns the stop signal that this process was given meanwhile, 0 when none:
// that ends the hook, and what it means besides is up to the caller.
func (h Hooks) Run(c Change) (stopped syscall.Signal) {
	if h.Open == "" && h.HalfOpen == "" && h.Close == "" {
		return 0
	}
	for _, t := range breaker.Between(c.Before, c.After) {
		event, line := h.of(t)
		if line == "" {
			continue
		}
		if signal := h.run(c, t, event, line); stopped == 0 {
			stopped = signal
		}
	}
	return stopped
}

// of returns the event that a transition is, and its hook. A change of the
// override is none.
func (h Hooks) of(t breaker.Transition) (event, line string) {
	closed, open, half := breaker.Closed.String(), breaker.Open.String(), breaker.HalfOpen.String()
	switch {
	case t.From == closed && t.To == open:
		return "open", h.Open
	case t.From == open && t.To == half:
		return "half-open", h.HalfOpen
	case (t.From == open || t.From == half) && t.To == closed:
		return "close", h.Close
	}
	return "", ""
}

func (h Hooks) run(c Change, t breaker.Transition, event, line string) (stopped syscall.Signal) {
	hook := fmt.Sprintf("the on-%s hook of %s", event, c.Name)
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		c.Warn(fmt.Sprintf("cannot start %s (%v)", hook, err))
		return 0
	}
	defer nothing.Close()
	// Collected anew: also a run that was told to stop may have opened the circuit.
	signals := process.Catch()
	defer signals.Close()
	end := process.Command{
		Args: process.Shell(line), Env: slices.Concat(c.Environ, c.vars(t, event)),
		Stdin: nothing, Stdout: c.Output, Stderr: c.Output,
		TimeLimit: h.Limit, KillAfter: hookGrace,
	}.Run(signals)
	switch {
	case end.StartErr != nil:
		c.Warn(fmt.Sprintf("cannot start %s (%v)", hook, end.StartErr))
	case end.TimedOut:
		c.Warn(fmt.Sprintf("%s was ended after --hook-limit %s (exit %d)", hook, breaker.FormatDuration(h.Limit), end.Code))
	case end.Code != 0:
		c.Warn(fmt.Sprintf("%s failed (exit %d)", hook, end.Code))
	}
	return signals.Stopped()
}

// vars are the variables of a hook. All are set always, to nothing where they
// do not apply.
func (c Change) vars(t breaker.Transition, event string) []string {
	retryAt, code := "", ""
	if event == "open" && !c.After.RetryAt.IsZero() {
		retryAt = c.After.RetryAt.UTC().Format(time.RFC3339Nano)
	}
	if t.Code != breaker.NoCode {
		code = strconv.Itoa(t.Code)
	}
	skipped := c.After.Skipped
	if event == "close" {
		skipped = c.Before.Skipped
	}
	return []string{
		"CIRCUIT_NAME=" + c.Name,
		"CIRCUIT_STATE=" + t.To,
		"CIRCUIT_EVENT=" + event,
		"CIRCUIT_FROM=" + t.From,
		"CIRCUIT_TO=" + t.To,
		"CIRCUIT_REASON=" + reason(t),
		"CIRCUIT_RETRY_AT=" + retryAt,
		"CIRCUIT_EXIT_CODE=" + code,
		"CIRCUIT_STREAK=" + strconv.Itoa(t.Streak),
		"CIRCUIT_SKIPPED=" + strconv.Itoa(skipped),
	}
}

// reason says why, also where the core leaves that to the cause.
func reason(t breaker.Transition) string {
	switch t.Cause {
	case breaker.ByOperator:
		text := "by hand"
		if t.By != "" {
			text += " by " + t.By
		}
		if t.Reason != "" {
			text += ": " + t.Reason
		}
		return text
	case breaker.ByTimeout:
		return "the timeout is over"
	case breaker.ByRun, breaker.ByProbe, breaker.ByLost, breaker.ByExpiry:
	}
	return t.Reason
}
