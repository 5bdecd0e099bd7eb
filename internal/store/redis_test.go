package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cb/internal/breaker"
	"cb/internal/redis"
	"cb/internal/redistest"
)

func TestRedisKeepsTheContract(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	testContract(t, func(t *testing.T) subject {
		server.Do("FLUSHALL")
		return redisSubject(t, server.URL(), server.Do)
	})
}

func TestClusterKeepsTheContract(t *testing.T) {
	t.Parallel()
	needsTime(t)
	nodes := redistest.StartCluster(t)
	url := "redis+cluster://127.0.0.1:1," + nodes[1].Addr
	client := clientOf(t, url)
	testContract(t, func(t *testing.T) subject {
		for _, node := range nodes {
			node.Do("FLUSHALL")
		}
		return redisSubject(t, url, func(words ...string) redis.Reply {
			reply, err := client.Do(context.Background(), redis.Command{Words: words, Key: words[1]})
			if err != nil {
				t.Fatal(err)
			}
			return reply
		})
	})
}

func TestSentinelsKeepTheContract(t *testing.T) {
	t.Parallel()
	needsTime(t)
	w := redistest.StartWatched(t)
	testContract(t, func(t *testing.T) subject {
		w.Master.Do("FLUSHALL")
		return redisSubject(t, w.URL(), w.Master.Do)
	})
}

// needsTime skips a test that starts many servers where time is short.
func needsTime(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts many servers")
	}
}

// redisSubject is the store at a URL; do sends a command about the key that is
// its second word.
func redisSubject(t *testing.T, url string, do func(words ...string) redis.Reply) subject {
	r := newRedis(t, url)
	return subject{
		contractStore: r,
		url:           url,
		get: func(name string) []byte {
			data, _ := do("GET", r.keys(name)[keyDocument]).(string)
			return []byte(data)
		},
		set:   func(name string, data []byte) { do("SET", r.keys(name)[keyDocument], string(data)) },
		lapse: func(lost func() bool) { redistest.Await(t, "the lease lapses", lost) },
	}
}

// newRedis returns a store whose warnings are errors.
func newRedis(t *testing.T, url string) *Redis {
	t.Helper()
	r, err := OpenRedis(url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Limit, r.Lease = time.Minute, testLease
	r.Warn = func(message string) { t.Errorf("warning: %s", message) }
	t.Cleanup(func() { r.Close() })
	return r
}

func clientOf(t *testing.T, url string) *redis.Client {
	t.Helper()
	target, _, err := redis.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	client := &redis.Client{Target: target}
	t.Cleanup(client.Close)
	return client
}

func TestRedisNeedsTwoRoundTrips(t *testing.T) {
	server := redistest.Start(t, "--requirepass", "s3cret")
	p := redistest.NewProxy(t, server.Addr)
	url := "redis://:s3cret@" + p.Addr + "/3"
	fresh := func(what string, most int, do func(r *Redis)) {
		t.Helper()
		r := newRedis(t, url)
		p.Trips()
		do(r)
		if got := p.Trips(); got > most {
			t.Errorf("%s takes %d round trips, want at most %d", what, got, most)
		}
	}
	change := func(r *Redis) { update(t, r, "deploy", increment) }
	look := func(r *Redis) { read(t, r, "deploy") }
	fresh("a change on a server that knows no scripts", 4, change)
	fresh("the first change over a connection", 2, change)
	fresh("two changes", 4, func(r *Redis) { change(r); change(r) })
	fresh("a change that changes nothing", 1, func(r *Redis) {
		update(t, r, "deploy", func(c breaker.Circuit, _ time.Time) (breaker.Circuit, error) { return c, nil })
	})
	fresh("a reading", 1, look)
	fresh("a list of one page", 3, func(r *Redis) {
		for _, err := range r.List() {
			if err != nil {
				t.Error(err)
			}
		}
	})
}

// TestRedisLostReplies breaks the connection at the worst moments: a run must
// be counted once, or not be claimed to be.
func TestRedisLostReplies(t *testing.T) {
	server := redistest.Start(t)
	p := redistest.NewProxy(t, server.Addr)
	other := newRedis(t, server.URL())
	r := newRedis(t, "redis://"+p.Addr)
	count := func() int { return read(t, other, "deploy").Totals.Successes }
	breaking := func(first func()) func(breaker.Circuit, time.Time) (breaker.Circuit, error) {
		return func(c breaker.Circuit, now time.Time) (breaker.Circuit, error) {
			if first != nil {
				first()
				first = nil
			}
			return increment(c, now)
		}
	}
	update(t, r, "deploy", breaking(p.Break))
	if got := count(); got != 1 {
		t.Errorf("%d after a write that was not sent, want 1", got)
	}
	update(t, r, "deploy", breaking(func() { p.LoseReply(func() {}) }))
	if got := count(); got != 2 {
		t.Errorf("%d after a write without an answer, want 2", got)
	}
	meanwhile := func() { update(t, other, "deploy", increment) }
	err := r.Update(context.Background(), "deploy", breaking(func() { p.LoseReply(meanwhile) }))
	if err == nil || !strings.Contains(err.Error(), "not known whether") {
		t.Errorf("Update: %v, want an error that says what is not known", err)
	}
	again := r.Update(context.Background(), "deploy", increment)
	if again == nil || again.Error() != err.Error() {
		t.Errorf("a second attempt: %v, want the same error", again)
	}
	if got := count(); got != 4 {
		t.Errorf("%d after a write without an answer and another's, want 4", got)
	}
}

func TestRedisExpiry(t *testing.T) {
	server := redistest.Start(t)
	r := newRedis(t, server.URL()+"?ttl=2h&prefix=a*[b")
	forever := newRedis(t, server.URL()+"?ttl=0")
	expires := func(s *Redis, c breaker.Circuit) bool {
		update(t, s, "deploy", put(c))
		ms, _ := server.Do("PTTL", s.keys("deploy")[keyDocument]).(int64)
		if ms != -1 && (ms < time.Hour.Milliseconds() || ms > 2*time.Hour.Milliseconds()) {
			t.Errorf("it expires in %d ms", ms)
		}
		return ms != -1
	}
	failed := breaker.Call{At: time.Unix(1, 0).UTC(), Outcome: breaker.Failure, Code: 1}
	order := breaker.Order{At: time.Unix(2, 0).UTC(), Seed: 1}
	window := func(p breaker.Policy) breaker.Circuit {
		return breaker.Circuit{Policy: p, Calls: []breaker.Call{failed}, Fresh: 1}
	}
	closed := breaker.Circuit{Totals: breaker.Totals{Successes: 1}}
	for name, one := range map[string]struct {
		circuit breaker.Circuit
		expires bool
	}{
		"closed":                     {closed, true},
		"with a streak":              {breaker.Circuit{Streak: 1}, false},
		"a failure in a window":      {window(breaker.Policy{WindowCalls: 5}), false},
		"a failure in a long window": {window(breaker.Policy{WindowSpan: 3 * time.Hour}), false},
		"a failure in a short one":   {window(breaker.Policy{WindowSpan: time.Hour}), true},
		"open":                       {closed.Trip(order), false},
		"held":                       {closed.Hold(order), false},
		"disabled":                   {closed.Disable(order), false},
		"reset":                      {closed.Trip(order).Reset(order), true},
	} {
		if got := expires(r, one.circuit); got != one.expires {
			t.Errorf("%s: expires is %v, want %v", name, got, one.expires)
		}
	}
	if expires(forever, closed) {
		t.Error("with ttl=0 it expires")
	}
	for _, s := range []*Redis{r, forever} {
		update(t, s, "of "+s.prefix, increment)
		if names, err := s.Names(); err != nil || !slices.Equal(names, []string{"deploy", "of " + s.prefix}) {
			t.Errorf("prefix %s: %q, %v", s.prefix, names, err)
		}
	}
}

func TestRedisDamaged(t *testing.T) {
	server := redistest.Start(t)
	r := newRedis(t, server.URL())
	var warnings []string
	r.Warn = func(message string) { warnings = append(warnings, message) }
	server.Do("SET", "cb:{deploy}", "{")
	if _, _, _, err := r.Read("deploy"); !errors.Is(err, ErrCorrupt) {
		t.Errorf("Read: %v, want ErrCorrupt", err)
	}
	update(t, r, "deploy", increment)
	if len(warnings) != 1 || !strings.Contains(warnings[0], "kept as cb:{deploy}:damaged, and the circuit starts closed") {
		t.Errorf("warnings %q", warnings)
	}
	if got := server.Do("GET", "cb:{deploy}:damaged"); got != "{" {
		t.Errorf("kept is %v", got)
	}
	update(t, r, "deploy", increment)
	if got := read(t, r, "deploy").Totals.Successes; got != 2 || len(warnings) != 1 {
		t.Errorf("%d updates and %d warnings", got, len(warnings))
	}
}

func TestRedisOutput(t *testing.T) {
	server := redistest.Start(t)
	r := newRedis(t, server.URL())
	if _, _, found, err := r.Output("deploy"); found || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
	for _, text := range []string{"", "two words\n\x00\xff", strings.Repeat("x", 1<<20)} {
		if err := r.SaveOutput("deploy", []byte(text)); err != nil {
			t.Fatal(err)
		}
		output, age, found, err := r.Output("deploy")
		if string(output) != text || age > time.Minute || !found || err != nil {
			t.Errorf("%d bytes, %v old, %v, %v; want %d bytes", len(output), age, found, err, len(text))
		}
	}
	update(t, r, "deploy", increment)
	if _, err := r.Remove(context.Background(), "deploy", func(breaker.Circuit, time.Time) bool { return true }); err != nil {
		t.Error(err)
	}
	if keys := server.Do("DBSIZE"); keys != int64(0) {
		t.Errorf("%v keys are left after the removal", keys)
	}
}

// TestRedisServesACrowd lets many change one circuit at once. Nobody is
// starved, and nothing is left behind.
func TestRedisServesACrowd(t *testing.T) {
	server := redistest.Start(t)
	const crowd = 300
	var group sync.WaitGroup
	for range crowd {
		r := newRedis(t, server.URL())
		group.Go(func() {
			if err := r.Update(context.Background(), "deploy", increment); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := read(t, newRedis(t, server.URL()), "deploy").Totals.Successes; got != crowd {
		t.Errorf("%d updates, want %d", got, crowd)
	}
	if keys := server.Do("DBSIZE"); keys != int64(1) {
		t.Errorf("%v keys, want the circuit alone", keys)
	}
}
