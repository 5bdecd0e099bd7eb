package store

import (
	"context"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"cb/internal/breaker"
	"cb/internal/redistest"
)

// client does deeds and keeps their history.
type client struct {
	t       *testing.T
	id      int
	store   contractStore
	start   time.Time
	history []porcupine.Operation
	probes  map[string][]string // unanswered tokens by circuit
}

func (c *client) do(d deed) seen {
	began := time.Since(c.start)
	var out seen
	var err error
	switch d.kind {
	case "read":
		var circuit breaker.Circuit
		circuit, _, _, err = c.store.Read(d.name)
		_, out = d.do(circuit, time.Time{})
	default:
		err = c.store.Update(context.Background(), d.name, func(old breaker.Circuit, now time.Time) (after breaker.Circuit, _ error) {
			after, out = d.do(old, now)
			return after, nil
		})
	}
	if err != nil {
		c.t.Errorf("%s: %v", d.kind, err)
	}
	c.history = append(c.history, porcupine.Operation{
		ClientId: c.id, Input: d, Output: out, Call: int64(began), Return: int64(time.Since(c.start)),
	})
	return out
}

// live does a number of deeds at random, and crashes where the store can tell
// at once.
func (c *client) live(deeds int, crashes bool) {
	for range deeds {
		d := deed{
			name: []string{"deploy", "backup"}[rand.N(2)], seed: rand.Uint64(),
			outcome: []breaker.Outcome{breaker.Success, breaker.Failure, breaker.Failure, breaker.Ignored}[rand.N(4)],
		}
		d.policy = breaker.Default()
		d.policy.Threshold, d.policy.Timeout = 2, time.Millisecond
		d.policy.Probes, d.policy.Successes = 1+rand.N(2), 2
		switch n := rand.N(20); {
		case n < 11:
			c.run(d)
		case n < 12 && crashes:
			c.crash()
		case n < 16:
			d.kind = "read"
			c.do(d)
		default:
			d.kind = []string{"trip", "reset", "hold", "disable", "enable", "observe"}[rand.N(6)]
			c.do(d)
		}
	}
}

// run admits and records, unless it forgets to.
func (c *client) run(d deed) {
	d.kind = "admit"
	out := c.do(d)
	if out.refused {
		return
	}
	if token := out.permit.Probe; token != "" && rand.N(4) == 0 {
		c.probes[d.name] = append(c.probes[d.name], token)
		return
	}
	d.kind, d.permit = "record", out.permit
	c.do(d)
}

// crash leaves all probes unanswered, which is a deed for each of them.
func (c *client) crash() {
	began := time.Since(c.start)
	if err := c.store.Close(); err != nil {
		c.t.Error(err)
	}
	ended := time.Since(c.start)
	for name, tokens := range c.probes {
		for _, token := range tokens {
			c.history = append(c.history, porcupine.Operation{
				ClientId: c.id, Input: deed{name: name, kind: "crash", crashed: token}, Output: seen{}, Call: int64(began), Return: int64(ended),
			})
		}
	}
	c.probes = map[string][]string{}
}

// historyOf lets clients live on a store each, and returns what they saw.
func historyOf(t *testing.T, clients, deeds int, crashes bool, open func() contractStore) []porcupine.Operation {
	t.Helper()
	all := make([]*client, clients)
	var group sync.WaitGroup
	start := time.Now()
	for i := range all {
		all[i] = &client{t: t, id: i, store: open(), start: start, probes: map[string][]string{}}
		group.Go(func() { all[i].live(deeds, crashes) })
	}
	group.Wait()
	var history []porcupine.Operation
	for _, c := range all {
		history = append(history, c.history...)
		if err := c.store.Close(); err != nil {
			t.Error(err)
		}
	}
	lingering(history)
	return history
}

// lingering lets the end of a client be seen late by changes that were under
// way then: they look for it before they write, and it waits for no lock.
func lingering(history []porcupine.Operation) {
	for i, crash := range history {
		if crash.Input.(deed).kind != "crash" {
			continue
		}
		for _, one := range history {
			if one.Input.(deed).kind != "crash" && one.Call < crash.Return {
				history[i].Return = max(history[i].Return, one.Return)
			}
		}
	}
}

// linearizable wants some order of the deeds, within what their clients saw of
// each other, in which the core alone answers the same.
func linearizable(t *testing.T, rounds int, crashes bool, open func() (again func() contractStore)) {
	t.Helper()
	for range rounds {
		for _, history := range core().Partition(historyOf(t, 6, 30, crashes, open())) {
			switch result, info := porcupine.CheckOperationsVerbose(core(), history, time.Minute); result {
			case porcupine.Illegal:
				t.Fatalf("no order explains what the clients saw; the longest that does, and what is left:\n%s", howFar(history, info))
			case porcupine.Unknown:
				t.Error("it takes too long to find out")
			case porcupine.Ok:
			}
		}
	}
}

// rounds is how many histories are made: CB_TEST_LONG is unset, 1 or more.
func rounds() int {
	if testing.Short() {
		return 1
	}
	switch os.Getenv("CB_TEST_LONG") {
	case "":
		return 2
	case "1":
		return 20
	}
	return 200
}

func TestDirIsLinearizable(t *testing.T) {
	linearizable(t, rounds(), true, func() func() contractStore {
		path := newDir(t).Path
		return func() contractStore { return reopen(path) }
	})
}

func TestRedisIsLinearizable(t *testing.T) {
	server := redistest.Start(t)
	linearizable(t, rounds(), false, func() func() contractStore {
		server.Do("FLUSHALL")
		return func() contractStore { return reopen(server.URL()) }
	})
}

// careless is a store that forgets a change now and then.
type careless struct{ contractStore }

func (s careless) Update(ctx context.Context, name string, f func(breaker.Circuit, time.Time) (breaker.Circuit, error)) error {
	if rand.N(20) > 0 {
		return s.contractStore.Update(ctx, name, f)
	}
	c, now, _, err := s.Read(name)
	if err == nil {
		_, err = f(c, now)
	}
	return err
}

// TestLostUpdatesAreNoticed makes sure that the check can fail.
func TestLostUpdatesAreNoticed(t *testing.T) {
	path := newDir(t).Path
	history := historyOf(t, 6, 60, false, func() contractStore { return careless{reopen(path)} })
	if porcupine.CheckOperationsTimeout(core(), history, time.Minute) == porcupine.Ok {
		t.Error("a store that forgets changes is taken for linearizable")
	}
}
