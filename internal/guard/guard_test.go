package guard

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"cb/internal/breaker"
)

var _ Store = (*fake)(nil)

// fake is a store in memory that can fail and keeps a log of what happens.
type fake struct {
	circuit breaker.Circuit
	now     time.Time
	fail    []error           // of the coming updates, before they decide
	stale   []breaker.Circuit // what the coming update decides about in vain
	unread  error             // of readings
	missing bool              // readings find nothing
	busy    bool              // an update is under way
	log     []string
}

func (s *fake) Update(ctx context.Context, _ string, f func(breaker.Circuit, time.Time) (breaker.Circuit, error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(s.fail) > 0 {
		err := s.fail[0]
		if s.fail = s.fail[1:]; err != nil {
			s.log = append(s.log, "failed")
			return err
		}
	}
	s.busy = true
	defer func() { s.busy = false }()
	for _, old := range s.stale {
		if _, err := f(old, s.now); err != nil {
			return err
		}
	}
	s.stale = nil
	after, err := f(s.circuit, s.now)
	if err == nil {
		s.circuit = after
		s.log = append(s.log, "written")
	}
	return err
}

func (s *fake) Read(string) (breaker.Circuit, time.Time, bool, error) {
	s.log = append(s.log, "read")
	return s.circuit, s.now, !s.missing, s.unread
}

// errDisk is trouble of a store.
var errDisk = errors.New("the disk is gone")

func start() time.Time { return time.Date(2026, 3, 1, 14, 0, 0, 0, time.UTC) }

// guarded returns a guard of a failing command, whose effects are logged.
func guarded(s *fake) Guard {
	p := breaker.Default()
	p.Threshold = 1
	return Guard{
		Store: s, Name: "api", Policy: p,
		Seed:      func() uint64 { return 7 },
		Permitted: func() { s.log = append(s.log, "permitted") },
		Command: func(a Admission) breaker.Call {
			s.log = append(s.log, "command "+a.State.String())
			if s.busy {
				s.log = append(s.log, "under the lock")
			}
			if a.Unrecorded {
				s.log = append(s.log, "unrecorded")
			}
			return breaker.Call{Outcome: breaker.Failure, Code: 3}
		},
		Changed: func(before, after breaker.Circuit, _ time.Time) {
			s.log = append(s.log, "changed "+before.State.String()+" "+after.State.String())
			if s.busy {
				s.log = append(s.log, "under the lock")
			}
		},
		Warn: func(trouble error, consequence string) {
			s.log = append(s.log, "warned "+trouble.Error()+": "+consequence)
		},
	}
}

// tripped is a circuit that opened at the start for a minute.
func tripped() breaker.Circuit {
	return breaker.Circuit{}.Trip(breaker.Order{At: start(), For: time.Minute, Seed: 1})
}

// probed is one whose probe runs.
func probed(t *testing.T) breaker.Circuit {
	t.Helper()
	c, permit, err := tripped().Admit(breaker.Default(), start().Add(time.Hour), breaker.Caller{}, 2)
	if err != nil || permit.Probe == "" {
		t.Fatalf("no probe: %+v, %v", permit, err)
	}
	return c
}

const (
	withoutCircuit = "warned the disk is gone: the command runs without its circuit"
	obeyed         = "warned the disk is gone: the circuit is obeyed as it was last saved"
	stands         = "warned the disk is gone: the command's result stands"
)

// TestRun tells, for each case, everything that happens in its order.
func TestRun(t *testing.T) {
	later := start().Add(time.Hour)
	for name, test := range map[string]struct {
		store   fake
		arrange func(*Guard)
		want    []string
		refused bool
		trouble bool
	}{
		"permitted, run and recorded": {
			want: []string{"permitted", "written", "changed closed closed", "command closed", "written", "changed closed open"},
		},
		"a probe": {
			store: fake{circuit: tripped(), now: later},
			want:  []string{"permitted", "written", "changed open half-open", "command half-open", "written", "changed half-open open"},
		},
		"disabled": {
			store: fake{circuit: tripped().Disable(breaker.Order{At: start()})},
			want:  []string{"permitted", "written", "changed open open", "command closed", "written", "changed open open"},
		},
		"refused": {
			store: fake{circuit: tripped()}, refused: true,
			want: []string{"written", "changed open open"},
		},
		"nobody asks to be told of the permit": {
			arrange: func(g *Guard) { g.Permitted = nil },
			want:    []string{"written", "changed closed closed", "command closed", "written", "changed closed open"},
		},
		"no admission, and no circuit": {
			store: fake{fail: []error{errDisk}, missing: true},
			want:  []string{"failed", "read", "permitted", withoutCircuit, "command closed", "unrecorded"},
		},
		"no admission, and an unreadable circuit": {
			store: fake{circuit: tripped(), fail: []error{errDisk}, unread: errDisk},
			want:  []string{"failed", "read", "permitted", withoutCircuit, "command closed", "unrecorded"},
		},
		"no admission, and a closed circuit": {
			store: fake{fail: []error{errDisk}},
			want:  []string{"failed", "read", "permitted", withoutCircuit, "command closed", "unrecorded"},
		},
		"no admission, and an open circuit": {
			store: fake{circuit: tripped(), fail: []error{errDisk}}, refused: true,
			want: []string{"failed", "read", obeyed},
		},
		"no admission, and an open circuit whose period is over": {
			store: fake{circuit: tripped(), now: later, fail: []error{errDisk}},
			want:  []string{"failed", "read", "permitted", withoutCircuit, "command closed", "unrecorded"},
		},
		"no admission, and a held circuit": {
			store: fake{circuit: breaker.Circuit{}.Hold(breaker.Order{At: start()}), fail: []error{errDisk}}, refused: true,
			want: []string{"failed", "read", obeyed},
		},
		"no admission, and a probe that runs": {
			store: fake{circuit: probed(t), now: later, fail: []error{errDisk}},
			want:  []string{"failed", "read", "permitted", withoutCircuit, "command closed", "unrecorded"},
		},
		"no admission where it must be recorded": {
			store: fake{fail: []error{errDisk}}, trouble: true,
			arrange: func(g *Guard) { g.MustRecord = true },
			want:    []string{"failed", "read"},
		},
		"no admission where it must be recorded, and an open circuit": {
			store: fake{circuit: tripped(), fail: []error{errDisk}}, refused: true,
			arrange: func(g *Guard) { g.MustRecord = true },
			want:    []string{"failed", "read", obeyed},
		},
		"recorded at the second try": {
			store: fake{fail: []error{nil, errDisk}},
			want:  []string{"permitted", "written", "changed closed closed", "command closed", "failed", "written", "changed closed open"},
		},
		"not recorded": {
			store: fake{fail: []error{nil, errDisk, errDisk, errors.New("a third try")}},
			want:  []string{"permitted", "written", "changed closed closed", "command closed", "failed", "failed", stands},
		},
		"not recorded where it must be": {
			store:   fake{fail: []error{nil, errDisk, errDisk}},
			arrange: func(g *Guard) { g.MustRecord = true },
			want:    []string{"permitted", "written", "changed closed closed", "command closed", "failed", "failed", stands},
		},
		"decided anew, both times permitted": {
			store: fake{stale: []breaker.Circuit{{Streak: 1}}},
			want:  []string{"permitted", "permitted", "written", "changed closed closed", "command closed", "written", "changed closed open"},
		},
		"decided anew, refused at last": {
			store: fake{circuit: tripped(), stale: []breaker.Circuit{{}}}, refused: true,
			want: []string{"permitted", "written", "changed open open"},
		},
		"decided anew, permitted at last": {
			store: fake{stale: []breaker.Circuit{tripped()}},
			want:  []string{"permitted", "written", "changed closed closed", "command closed", "written", "changed closed open"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := test.store
			if s.now.IsZero() {
				s.now = start().Add(time.Second)
			}
			g := guarded(&s)
			if test.arrange != nil {
				test.arrange(&g)
			}
			err := g.Run(context.Background())
			var refused *breaker.OpenError
			var trouble *StoreError
			if errors.As(err, &refused) != test.refused || errors.As(err, &trouble) != test.trouble || (err != nil) != (test.refused || test.trouble) {
				t.Errorf("Run returns %v", err)
			}
			if test.trouble && (!errors.Is(err, errDisk) || err.Error() != errDisk.Error()) {
				t.Errorf("%v does not tell of the store's own error", err)
			}
			if !slices.Equal(s.log, test.want) {
				t.Errorf("what happened:\n%s\nwant:\n%s", strings.Join(s.log, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// TestOutcomeIsCountedOnce also where the store decided twice or failed first.
func TestOutcomeIsCountedOnce(t *testing.T) {
	for name, s := range map[string]*fake{
		"at once":      {now: start()},
		"after a fail": {now: start(), fail: []error{nil, errDisk}},
		"after a race": {now: start(), stale: []breaker.Circuit{{Streak: 5}}},
	} {
		if err := guarded(s).Run(context.Background()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c := s.circuit; c.Totals.Failures != 1 || c.Totals.Runs() != 1 || c.Failed == nil || !c.Failed.At.Equal(start()) {
			t.Errorf("%s: the circuit became %+v", name, c)
		}
	}
}

func TestRefusalIsCounted(t *testing.T) {
	s := &fake{circuit: tripped(), now: start().Add(time.Second)}
	err := guarded(s).Run(context.Background())
	var refused *breaker.OpenError
	if !errors.As(err, &refused) || refused.In != 59*time.Second || s.circuit.Totals.Refused != 1 {
		t.Errorf("%v leaves %+v", err, s.circuit)
	}
}

// TestCancelled before the admission nothing is run, and no word said, for
// nothing is wrong with the store; once the command runs, its outcome is
// recorded whatever the context says.
func TestCancelled(t *testing.T) {
	why := errors.New("told to stop")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	s := &fake{now: start()}
	if err := guarded(s).Run(ctx); !errors.Is(err, why) || !strings.Contains(err.Error(), "api") || len(s.log) > 0 {
		t.Errorf("Run returns %v after %q", err, s.log)
	}

	ctx, cancel = context.WithCancelCause(context.Background())
	defer cancel(nil)
	s = &fake{now: start()}
	g := guarded(s)
	command := g.Command
	g.Command = func(a Admission) breaker.Call {
		cancel(why)
		return command(a)
	}
	if err := g.Run(ctx); err != nil || s.circuit.Totals.Failures != 1 {
		t.Errorf("Run returns %v and leaves %+v", err, s.circuit)
	}
}

// TestJudge completes a call with what only the store's time tells, and again
// with each try.
func TestJudge(t *testing.T) {
	s := &fake{now: start(), stale: []breaker.Circuit{{}}}
	g := guarded(s)
	var dates []time.Time
	g.Judge = func(call breaker.Call) breaker.Call {
		dates = append(dates, call.At)
		call.Took = time.Duration(len(dates)) * time.Second
		return call
	}
	g.Observe(context.Background(), breaker.Call{Outcome: breaker.Failure, Code: 9})
	if len(dates) != 2 || !dates[0].Equal(start()) || !dates[1].Equal(start()) {
		t.Errorf("judged at %v", dates)
	}
	if f := s.circuit.Failed; f == nil || f.Code != 9 || f.Took != 2*time.Second {
		t.Errorf("recorded %+v", f)
	}
}

// TestObserve records under the policy last used, without a permit.
func TestObserve(t *testing.T) {
	s := &fake{now: start()}
	guarded(s).Observe(context.Background(), breaker.Call{Outcome: breaker.Failure})
	if s.circuit.State != breaker.Closed || s.circuit.Streak != 1 || !slices.Equal(s.log, []string{"written", "changed closed closed"}) {
		t.Errorf("%q leaves %+v", s.log, s.circuit)
	}
	s.fail, s.log = []error{errDisk, errDisk}, nil
	guarded(s).Observe(context.Background(), breaker.Call{Outcome: breaker.Failure})
	if s.circuit.Streak != 1 || !slices.Equal(s.log, []string{"failed", "failed", stands}) {
		t.Errorf("%q leaves %+v", s.log, s.circuit)
	}
}

// TestLateResult of a permit of an older generation changes totals only.
func TestLateResult(t *testing.T) {
	s := &fake{now: start()}
	g := guarded(s)
	command := g.Command
	g.Command = func(a Admission) breaker.Call {
		s.circuit = s.circuit.Trip(breaker.Order{At: start(), For: time.Minute, Seed: 3})
		return command(a)
	}
	if err := g.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if c := s.circuit; c.State != breaker.Open || c.Totals.Late != 1 || c.Totals.Failures != 0 {
		t.Errorf("the circuit became %+v", c)
	}
}
