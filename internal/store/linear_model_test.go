package store

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"cb/internal/breaker"
)

// deed is what a client asks of a circuit.
type deed struct {
	name    string // of the circuit
	kind    string
	policy  breaker.Policy
	permit  breaker.Permit  // to be recorded
	outcome breaker.Outcome // to be recorded
	seed    uint64
	crashed string // token of a probe that the client leaves unanswered
}

// seen is what the client sees of its deed.
type seen struct {
	now     time.Time // the store's
	permit  breaker.Permit
	refused bool
	circuit string // afterwards, or as it was read
}

// world is a circuit and the tokens of probes whose client is gone.
type world struct {
	circuit breaker.Circuit
	dead    []string
}

// seenNow is the circuit as a store shows it.
func (w world) seenNow() breaker.Circuit {
	c := w.circuit
	for _, token := range w.dead {
		c = c.Lose(token)
	}
	return c
}

// do is the deed done to a circuit by the core alone.
func (d deed) do(c breaker.Circuit, now time.Time) (breaker.Circuit, seen) {
	s := seen{now: now}
	order := breaker.Order{At: now, By: "alice", Seed: d.seed}
	switch d.kind {
	case "admit":
		var err error
		c, s.permit, err = c.Admit(d.policy, now, breaker.Caller{PID: 1, Host: "here", Leased: true}, d.seed)
		s.refused = err != nil
	case "record":
		c = c.Record(d.policy, d.permit, breaker.Call{At: now, Outcome: d.outcome}, d.seed)
	case "observe":
		c = c.Observe(breaker.Call{At: now, Outcome: d.outcome}, d.seed)
	case "trip":
		order.For = time.Millisecond
		c = c.Trip(order)
	case "reset":
		c = c.Reset(order)
	case "hold":
		order.For = time.Millisecond
		c = c.Hold(order)
	case "disable":
		c = c.Disable(order)
	case "enable":
		c = c.Enable(order)
	}
	text, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	s.circuit = string(text)
	return c, s
}

// core is the model: circuits in one place, changed one deed at a time.
func core() porcupine.Model {
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			parts := map[string][]porcupine.Operation{}
			for _, one := range history {
				name := one.Input.(deed).name
				parts[name] = append(parts[name], one)
			}
			var all [][]porcupine.Operation
			for _, part := range parts {
				all = append(all, part)
			}
			return all
		},
		Init: func() any { return world{} },
		Step: func(state, input, output any) (bool, any) {
			w, d, want := state.(world), input.(deed), output.(seen)
			if d.kind == "crash" {
				return true, world{w.circuit, append(slices.Clone(w.dead), d.crashed)}
			}
			next, got := d.do(w.seenNow(), want.now)
			return got == want, world{next, w.dead}
		},
		Equal: reflect.DeepEqual,
		DescribeOperation: func(input, output any) string {
			return fmt.Sprintf("%s %s: %+v", input.(deed).name, input.(deed).kind, output)
		},
	}
}

// howFar tells the end of the longest order that was found, and what the core
// would have answered to what could come next.
func howFar(history []porcupine.Operation, info porcupine.LinearizationInfo) string {
	longest := slices.MaxFunc(info.PartialLinearizations()[0], func(a, b []int) int { return len(a) - len(b) })
	var text strings.Builder
	state, model := any(world{}), core()
	for n, i := range longest {
		one := history[i]
		_, state = model.Step(state, one.Input, one.Output)
		if n >= len(longest)-5 {
			fmt.Fprintf(&text, "client %d from %d to %d: %s\n", one.ClientId, one.Call, one.Return, one.Input.(deed).kind)
		}
	}
	text.WriteString("then one of these; first as the store says, then the core:\n")
	next := int64(math.MaxInt64)
	left := func(f func(porcupine.Operation)) {
		for i, one := range history {
			if !slices.Contains(longest, i) {
				f(one)
			}
		}
	}
	left(func(one porcupine.Operation) { next = min(next, one.Return) })
	left(func(one porcupine.Operation) {
		if one.Call <= next {
			said := one.Output.(seen)
			_, core := one.Input.(deed).do(state.(world).seenNow(), said.now)
			fmt.Fprintf(&text, "client %d from %d to %d: %s\n%+v\n%+v\n", one.ClientId, one.Call, one.Return, one.Input.(deed).kind, said, core)
		}
	})
	return text.String()
}
