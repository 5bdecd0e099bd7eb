package breaker

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestUnansweredProbes acquires a probe again and again and never answers.
func TestUnansweredProbes(t *testing.T) {
	p := Default()
	p.ProbeLimit = time.Second
	w := newWorld(t)
	w.order(Circuit.Trip, time.Second)
	for range 3 * maxOverdue {
		w.now = w.now.Add(time.Second)
		if _, refused := w.admit(p, Caller{Ticket: true}); refused != nil {
			t.Fatal(refused)
		}
	}
	if len(w.c.Probes) != maxOverdue+1 {
		t.Errorf("%d probes are listed after %d", len(w.c.Probes), 3*maxOverdue)
	}
	oldest, newest := w.runs[0], w.runs[len(w.runs)-maxOverdue-1]
	if w.finish(oldest, Success); w.c.State != HalfOpen || w.c.Totals.Late != 1 {
		t.Errorf("a probe that was forgotten closes the circuit: %v, %+v", w.c.State, w.c.Totals)
	}
	if w.finish(newest, Success); w.c.State != Closed {
		t.Errorf("the oldest probe of those that are listed does not count: %v, %+v", w.c.State, w.c.Totals)
	}
}

// TestSize fills a circuit with all that it can keep.
func TestSize(t *testing.T) {
	p := Policy{Threshold: 1000, WindowCalls: 1000, Timeout: time.Second, Probes: 1000, Successes: 1000, ProbeLimit: time.Minute}
	w := newWorld(t)
	w.brief = true
	host := strings.Repeat("h", 253)
	step := 123456 * time.Microsecond
	for range 1000 {
		w.now = w.now.Add(step)
		r, _ := w.admit(p, Caller{Ticket: true})
		w.finish(r, Failure)
		w.c.Calls[len(w.c.Calls)-1].Took = time.Hour + step
	}
	longReason := func(c Circuit, o Order) Circuit {
		o.Reason, o.By = strings.Repeat("é", 1<<10), strings.Repeat("a", 1<<10)
		return c.Trip(o)
	}
	for range 100 {
		w.order(longReason, time.Second)
	}
	if size := size(t, w.c); size > 256<<10 {
		t.Errorf("a full circuit takes %d bytes", size)
	}
	w.now = w.now.Add(time.Second)
	for range 1000 {
		w.now = w.now.Add(1)
		if _, refused := w.admit(p, Caller{PID: 1 << 22, Host: host, Leased: true}); refused != nil {
			t.Fatal(refused)
		}
	}
	if size := size(t, w.c); size > 900<<10 {
		t.Errorf("a full circuit with a thousand probes takes %d bytes", size)
	}
}

// size returns the bytes of a circuit as a store may write it.
func size(t *testing.T, c Circuit) int {
	t.Helper()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return len(data)
}

// TestLongTexts cuts what people write, between two characters.
func TestLongTexts(t *testing.T) {
	long := Order{At: start(), Reason: "x" + strings.Repeat("é", maxText), By: strings.Repeat("a", maxText)}
	want := "x" + strings.Repeat("é", (maxText-1)/2) + "…"
	for name, command := range map[string]func(Circuit, Order) Circuit{
		"trip": Circuit.Trip, "hold": Circuit.Hold, "disable": Circuit.Disable, "reset": func(c Circuit, o Order) Circuit { return c.Trip(Order{}).Reset(o) },
		"enable": func(c Circuit, o Order) Circuit { return c.Hold(Order{}).Enable(o) },
	} {
		c := command(Circuit{}, long)
		last := c.History[len(c.History)-1]
		if last.Reason != want || last.By != long.By {
			t.Errorf("%s keeps the reason %q of %q", name, last.Reason, last.By)
		}
		if c.Override.Kind != NoOverride && (c.Override.Reason != want || c.Override.By != long.By) {
			t.Errorf("%s keeps %+v", name, c.Override)
		}
	}
	if c := (Circuit{}).Trip(long); len(c.Reason) > 2*maxText {
		t.Errorf("a circuit that was tripped by hand has a reason of %d bytes", len(c.Reason))
	}
}
