package breaker

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// The model check visits every circuit that up to three runs can reach
// together: breadth first, over every order in which they ask, end with each
// outcome and die, in which time passes and an operator acts. It drives the
// real code. Two worlds are the same when no run and no admission could ever
// tell them apart; so there are not many, and the search comes to its end.

// unit is the time that passes in one step of waiting.
const unit = time.Second

// modelRun is one of the three.
type modelRun struct {
	running bool
	permit  Permit
	started time.Time
}

// node is one world of the model.
type node struct {
	c       Circuit
	now     time.Time
	runs    [3]modelRun
	answers int // in this half-open, as the model counts them
	steps   []string
}

// model is what the runs may do.
type model struct {
	policies [3]Policy // one for each run
	commands []string
}

// deepest is more steps than any world is away.
const deepest = 60

func TestModel(t *testing.T) {
	base := Policy{Threshold: 2, Timeout: 2 * unit, Backoff: 2, MaxTimeout: 4 * unit, ProbeLimit: 3 * unit}
	two, ratio, other, window := base, base, base, base
	two.Probes, two.Successes = 2, 2
	ratio.Probes, ratio.Successes, ratio.Answers = 2, 2, 3
	other.Threshold, other.Timeout, other.ProbeLimit = 1, 3*unit, unit
	window.Threshold, window.WindowSpan = 2, 2*unit
	commands := []string{"trip", "trip for 1", "reset", "hold", "hold for 1", "disable", "enable"}
	for name, m := range map[string]model{
		"one probe":         {[3]Policy{base, base, base}, commands},
		"two successes":     {[3]Policy{two, two, two}, commands},
		"two of three":      {[3]Policy{ratio, ratio, ratio}, nil},
		"different options": {[3]Policy{base, two, other}, nil},
		"time window":       {[3]Policy{window, window, window}, commands[:3]},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "one probe" {
				t.Skip("it takes some seconds, and many with the race detector")
			}
			t.Parallel()
			m.explore(t)
		})
	}
}

// explore visits all worlds.
func (m *model) explore(t *testing.T) {
	t.Helper()
	level := []node{{now: start(), c: Circuit{Policy: m.policies[0]}}}
	seen := map[string]bool{m.key(level[0]): true}
	for depth := range deepest {
		var next []node
		for _, n := range level {
			for _, after := range m.steps(t, n) {
				if key := m.key(after); !seen[key] {
					seen[key] = true
					m.check(t, after)
					next = append(next, m.forget(after))
				}
			}
		}
		if len(next) == 0 {
			t.Logf("%d worlds, the last of them %d steps away", len(seen), depth)
			return
		}
		level = next
	}
	t.Fatalf("there are worlds more than %d steps away, after %d", deepest, len(seen))
}

// forget drops what has no bearing on the future, to be fast.
func (m *model) forget(n node) node {
	n.c.History = nil
	if m.policies[0].HasWindow() {
		n.c.Streak = 0
	} else {
		n.c.Calls, n.c.Fresh = nil, 0
	}
	return n
}

// steps returns all worlds that are one step away.
func (m *model) steps(t *testing.T, n node) []node {
	t.Helper()
	var all []node
	try := func(what string, step func(next *node)) {
		next := n
		next.steps = append(slices.Clip(n.steps), what)
		step(&next)
		if err := broken(n.c, next.c, next.now); err != nil {
			t.Fatalf("%v\n%v\n%s", err, next.steps, describe(next.c))
		}
		all = append(all, next)
	}
	asked := map[Policy]bool{}
	for i := range n.runs {
		name := string(rune('a' + i))
		if !n.runs[i].running {
			if p := m.policies[i]; !asked[p] { // an idle run is as good as the other
				asked[p] = true
				try(name+"(", func(next *node) { m.admit(t, next, i) })
			}
			continue
		}
		for _, o := range []Outcome{Success, Failure, Ignored} {
			try(name+")"+o.String(), func(next *node) { m.finish(t, next, i, o) })
		}
		try(name+"!", func(next *node) {
			next.c = next.c.Lose(next.runs[i].permit.Probe)
			next.runs[i] = modelRun{}
		})
	}
	try("wait", func(next *node) { next.now = next.now.Add(unit) })
	for _, command := range m.commands {
		try(command, func(next *node) { next.command(command) })
	}
	return all
}

// admit lets a run ask, and checks the answer against what the model knows.
func (m *model) admit(t *testing.T, n *node, i int) {
	t.Helper()
	before := *n
	c, permit, err := n.c.Admit(m.policies[i], n.now, Caller{Leased: true}, uint64(len(n.steps)))
	n.c = c
	if slices.ContainsFunc(Between(before.c, c), func(t Transition) bool { return t.To == HalfOpen.String() }) {
		n.answers = 0
	}
	if err != nil {
		return
	}
	n.runs[i] = modelRun{true, permit, n.now}
	if live := m.live(*n); live > max(1, c.Recovery.Probes) || live > 0 && live+n.answers > c.Recovery.Answers {
		t.Fatalf("%d live probes and %d answers, allowed are %+v\n%v", live, n.answers, c.Recovery, n.steps)
	}
	if c.Override.Kind == Held || c.State == Open && c.Override.Kind == NoOverride {
		t.Fatalf("permitted while %s\n%v", c.Shown(), n.steps)
	}
}

// live counts the probes of this half-open that run and are not overdue. The
// model knows this from the runs, not from the circuit.
func (m *model) live(n node) int {
	live := 0
	for i, r := range n.runs {
		if r.running && r.permit.Probe != "" && r.permit.Generation == n.c.Generation && n.now.Sub(r.started) < m.policies[i].ProbeLimit {
			live++
		}
	}
	return live
}

func (m *model) finish(t *testing.T, n *node, i int, o Outcome) {
	t.Helper()
	before, r := n.c, n.runs[i]
	n.runs[i] = modelRun{}
	n.c = before.Record(m.policies[i], r.permit, Call{At: n.now, Outcome: o}, uint64(len(n.steps)))
	current := r.permit.Generation == before.Generation && !r.permit.Through
	if !current && (n.c.Generation != before.Generation || n.c.Streak != before.Streak || n.c.Recovery != before.Recovery) {
		t.Fatalf("a late result counted\n%v\n%s", n.steps, describe(n.c))
	}
	if late := n.c.Totals.Late > before.Totals.Late; late == current && !r.permit.Through {
		t.Fatalf("late is %v, of a run of generation %d in %d\n%v", late, r.permit.Generation, before.Generation, n.steps)
	}
	if current && before.State == HalfOpen && o != Ignored {
		n.answers++
	}
	if n.c.State == HalfOpen && n.answers != n.c.Recovery.Successes+n.c.Recovery.Failures {
		t.Fatalf("%d answers were given, the circuit knows %+v\n%v", n.answers, n.c.Recovery, n.steps)
	}
	if steps := n.c.Reopens - before.Reopens; steps > 0 && (steps > 1 || !current || o == Success || before.State != HalfOpen) {
		t.Fatalf("%d backoff steps by a %s in %s\n%v", steps, o, before.State, n.steps)
	}
}

func (n *node) command(command string) {
	o := Order{At: n.now, Seed: uint64(len(n.steps))}
	switch command {
	case "trip":
		n.c = n.c.Trip(o)
	case "trip for 1":
		o.For = unit
		n.c = n.c.Trip(o)
	case "reset":
		n.c = n.c.Reset(o)
	case "hold":
		n.c = n.c.Hold(o)
	case "hold for 1":
		o.For = unit
		n.c = n.c.Hold(o)
	case "disable":
		n.c = n.c.Disable(o)
	case "enable":
		n.c = n.c.Enable(o)
	}
}

// check asks of each world what must never be lost: a way back.
func (m *model) check(t *testing.T, n node) {
	t.Helper()
	for i, p := range m.policies {
		if slices.Index(m.policies[:], p) < i {
			continue
		}
		if err := stuck(n.c, p, n.now); err != nil {
			t.Fatalf("%v\n%v\n%s", err, n.steps, describe(n.c))
		}
	}
	if err := misseen(n.c, m.policies[0], n.now); err != nil {
		t.Fatalf("%v\n%v\n%s", err, n.steps, describe(n.c))
	}
	var lost time.Time
	all := true
	for _, probe := range n.c.Probes {
		all = all && probe.lost
		if probe.lost && probe.StartedAt.After(lost) {
			lost = probe.StartedAt
		}
	}
	if lost.IsZero() {
		return
	}
	due := lost.Add(n.c.Period)
	if _, _, err := n.c.Admit(m.policies[0], due.Add(-1), Caller{}, 1); err == nil && all && n.now.Before(due) {
		t.Fatalf("a lost probe freed its slot before one period was over\n%v", n.steps)
	}
	if n.now.After(due) {
		due = n.now
	}
	if held := func(p Probe) bool { return p.lost && !p.Overdue(due) }; !all && !slices.ContainsFunc(n.c.Probes, held) {
		return // another has taken its slot
	}
	if _, _, err := n.c.Admit(m.policies[0], due, Caller{}, 1); err != nil {
		t.Fatalf("a lost probe keeps its slot after one period: %v\n%v", err, n.steps)
	}
}

// key describes what decides about the future of a world: no totals, no
// history, no names; instants as distances from now. Runs with the same policy
// are as good as each other.
func (m *model) key(n node) string {
	c := n.c
	left := func(at time.Time) int { return max(0, int(at.Sub(n.now)/unit)) }
	ago := func(at time.Time) int { return min(5, int(n.now.Sub(at)/unit)) }
	key := fmt.Appendf(nil, "%d %d %d %d %d %v %s %d", c.State, c.Streak, left(c.RetryAt), c.Period/unit,
		min(c.Reopens, 2), c.Recovery, c.Override.Kind, left(c.Override.Until))
	for _, call := range c.Calls[len(c.Calls)-c.Fresh:] {
		if span := m.policies[0].WindowSpan; call.Outcome.Failed() && n.now.Sub(call.At) < span {
			key = fmt.Appendf(key, " f%d", ago(call.At))
		}
	}
	for _, probe := range c.Probes {
		key = fmt.Appendf(key, " p%d,%d,%v", ago(probe.StartedAt), left(probe.Deadline), probe.lost)
	}
	var runs [3]int
	for i, r := range n.runs {
		runs[i] = slices.Index(m.policies[:], m.policies[i]) * 1000
		switch {
		case !r.running:
		case r.permit.Through:
			runs[i] += 1
		case r.permit.Generation != c.Generation:
			runs[i] += 2
		default:
			runs[i] += 3 + 1 + slices.IndexFunc(c.Probes, func(p Probe) bool { return p.Token == r.permit.Probe })
		}
	}
	slices.Sort(runs[:])
	return string(fmt.Append(key, runs))
}
