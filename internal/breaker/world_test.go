package breaker

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"
)

// tester is what *testing.T and *rapid.T have in common here.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// start is when every story begins.
func start() time.Time { return time.Date(2026, 3, 1, 14, 0, 0, 0, time.UTC) }

// run is a run that was permitted.
type run struct {
	permit  Permit
	policy  Policy
	leased  bool
	started time.Time
	dead    bool // its process is gone
	done    bool // its outcome is recorded
}

// world is one circuit, the runs that ask it, and a clock. Between two steps
// the circuit is stored as JSON and loaded again, as a store would, and after
// each step the laws are checked that hold for all circuits.
type world struct {
	t      tester
	now    time.Time
	c      Circuit
	before Circuit // as the last step found it
	seed   uint64
	runs   []*run

	recorded, refused int  // what Totals must agree with
	brief             bool // spare the file, in the midst of many equal steps
}

func newWorld(t tester) *world { return &world{t: t, now: start(), seed: 1} }

// load returns the circuit as the next process finds it: read from its file,
// with those of its probes marked whose lease has lapsed.
func (w *world) load() Circuit {
	w.t.Helper()
	c := reread(w.t, w.c)
	for _, r := range w.runs {
		if r.dead && r.leased {
			c = c.Lose(r.permit.Probe)
		}
	}
	return c
}

// do makes one step and checks what must hold for each.
func (w *world) do(step func(c Circuit, seed uint64) Circuit) {
	w.t.Helper()
	w.seed++
	if w.brief {
		w.before, w.c = w.c, step(w.c, w.seed)
		if err := broken(w.before, w.c, w.now); err != nil {
			w.t.Fatalf("%v", err)
		}
		return
	}
	before := w.load()
	asFound := describe(before)
	after := step(before, w.seed)
	if got := describe(before); got != asFound {
		w.t.Fatalf("the receiver changed:\n%s\nwas %s", got, asFound)
	}
	kept := reread(w.t, after)
	scribble(after)
	if got := describe(before); got != asFound {
		w.t.Fatalf("the new circuit shares memory with its receiver:\n%s\nwas %s", got, asFound)
	}
	w.before, w.c = before, kept
	if err := broken(before, kept, w.now); err != nil {
		w.t.Fatalf("%v\nbefore %s\nafter  %s", err, asFound, describe(kept))
	}
	if got, want := kept.Totals.Runs(), w.recorded+kept.Totals.Lost; got != want {
		w.t.Fatalf("totals tell of %d runs that are over, not of %d: %+v", got, want, kept.Totals)
	}
	if kept.Totals.Refused != w.refused {
		w.t.Fatalf("%d refusals are counted, not %d", kept.Totals.Refused, w.refused)
	}
}

// admit asks for leave to run; exactly one of its results is nil.
func (w *world) admit(p Policy, who Caller) (*run, *OpenError) {
	w.t.Helper()
	var permit Permit
	var answer error
	w.do(func(c Circuit, seed uint64) Circuit {
		next, got, err := c.Admit(p, w.now, who, seed)
		if permit, answer = got, err; err != nil {
			w.refused++
		}
		return next
	})
	var refused *OpenError
	if errors.As(answer, &refused) {
		w.checkRefusal(refused, permit)
		return nil, refused
	}
	if permit == (Permit{}) || answer != nil {
		w.t.Fatalf("Admit returned the permit %+v with the error %v", permit, answer)
	}
	r := &run{permit: permit, policy: p, leased: who.Leased, started: w.now}
	w.runs = append(w.runs, r)
	return r, nil
}

// checkRefusal checks that a refusal explains itself and counts, no more.
func (w *world) checkRefusal(refused *OpenError, permit Permit) {
	w.t.Helper()
	if permit != (Permit{}) {
		w.t.Fatalf("a refusal came with the permit %+v", permit)
	}
	if refused.RetryAt.IsZero() != (refused.In == 0) || refused.In != 0 && !w.now.Add(refused.In).Equal(refused.RetryAt) {
		w.t.Fatalf("refused until %v, in %v, but now is %v", refused.RetryAt, refused.In, w.now)
	}
	switch refused.Refusal {
	case RefusedOpen:
		if w.c.State != Open || refused.In <= 0 {
			w.t.Fatalf("refused as open in state %v, retry in %v", w.c.State, refused.In)
		}
	case RefusedHeld:
		if w.c.Override.Kind != Held {
			w.t.Fatalf("refused as held under %+v", w.c.Override)
		}
	case RefusedProbe:
		if w.c.State != HalfOpen || len(w.c.Probes) == 0 || refused.In != 0 {
			w.t.Fatalf("refused for a probe in state %v with %d probes", w.c.State, len(w.c.Probes))
		}
	}
	if w.brief || len(Between(w.before, w.c)) > 0 || w.c.Totals.Lost > w.before.Totals.Lost {
		return // it found a hold that was over, or a lost probe
	}
	uncounted := reread(w.t, w.c)
	uncounted.Totals.Refused--
	if uncounted.State != Closed {
		uncounted.Skipped--
	}
	uncounted.Policy, uncounted.Keep = w.before.Policy, w.before.Keep
	if got, want := describe(uncounted), describe(reread(w.t, w.before.At(w.now, 0))); got != want {
		w.t.Fatalf("a refusal changed more than counters:\n%s\nwas %s", got, want)
	}
}

// finish records the outcome of a run.
func (w *world) finish(r *run, outcome Outcome) {
	w.t.Helper()
	r.done = true
	w.recorded++
	call := Call{At: w.now, Outcome: outcome, Took: w.now.Sub(r.started).Abs()}
	if outcome == Failure {
		call.Code = 7
	}
	w.do(func(c Circuit, seed uint64) Circuit { return c.Record(r.policy, r.permit, call, seed) })
}

// observe records an outcome that was seen elsewhere.
func (w *world) observe(outcome Outcome) {
	w.t.Helper()
	w.recorded++
	w.do(func(c Circuit, seed uint64) Circuit {
		return c.Observe(Call{At: w.now, Outcome: outcome, Code: NoCode}, seed)
	})
}

// order gives a manual command.
func (w *world) order(command func(Circuit, Order) Circuit, length time.Duration) {
	w.t.Helper()
	w.do(func(c Circuit, seed uint64) Circuit {
		return command(c, Order{At: w.now, By: "alice", Reason: "a reason", For: length, Seed: seed})
	})
}

// reread returns the circuit as it comes back from its file.
func reread(t tester, c Circuit) Circuit {
	t.Helper()
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatalf("write the circuit: %v", err)
	}
	var got Circuit
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatalf("read the circuit: %v\n%s", err, data)
	}
	if want := storable(c); !reflect.DeepEqual(got, want) {
		t.Fatalf("the circuit comes back from its file as another:\n%+v\nwas %+v", got, want)
	}
	return got
}

// storable returns a circuit without what is the same when it is left out.
func storable(c Circuit) Circuit {
	c = c.clone()
	for i := range c.Probes {
		c.Probes[i].lost = false
	}
	if len(c.Probes) == 0 {
		c.Probes = nil
	}
	if len(c.Calls) == 0 {
		c.Calls = nil
	}
	if len(c.History) == 0 {
		c.History = nil
	}
	if len(c.Used) == 0 {
		c.Used = nil
	}
	return c
}

// describe returns all that there is in a circuit.
func describe(c Circuit) string {
	data, err := json.Marshal(c)
	if err != nil {
		return err.Error()
	}
	lost := 0
	for _, probe := range c.Probes {
		if probe.lost {
			lost++
		}
	}
	return fmt.Sprintf("%s, %d lost", data, lost)
}

// scribble spoils all the memory that a circuit refers to.
func scribble(c Circuit) {
	for i := range c.Probes {
		c.Probes[i].Token, c.Probes[i].lost = "spoilt", !c.Probes[i].lost
	}
	for i := range c.Calls {
		c.Calls[i].Code = 99
	}
	for i := range c.History {
		c.History[i].Reason = "spoilt"
	}
	for i := range c.Used {
		c.Used[i] = "spoilt"
	}
	if c.Failed != nil {
		c.Failed.Code = 99
	}
	if c.Worked != nil {
		c.Worked.Code = 99
	}
}

// TestLoseIsNotStored keeps a fact of one process out of the file.
func TestLoseIsNotStored(t *testing.T) {
	w := newWorld(t)
	w.order(Circuit.Trip, time.Second)
	w.now = w.now.Add(time.Second)
	r, _ := w.admit(Default(), Caller{Leased: true})
	if lost := w.c.Lose(r.permit.Probe); !lost.Probes[0].lost || reread(t, lost).Probes[0].lost || w.c.Probes[0].lost {
		t.Error("a probe that was marked lost stays so in the file, or in the receiver")
	}
}
