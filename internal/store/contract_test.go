package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cb/internal/breaker"
)

// contractStore is what every store can do.
type contractStore interface {
	Update(ctx context.Context, name string, f func(c breaker.Circuit, now time.Time) (breaker.Circuit, error)) error
	Read(name string) (c breaker.Circuit, now time.Time, found bool, err error)
	List() iter.Seq2[Entry, error]
	Names() ([]string, error)
	Remove(ctx context.Context, name string, idle func(c breaker.Circuit, now time.Time) bool) (bool, error)
	io.Closer
}

// subject is an empty store under test.
type subject struct {
	contractStore
	url string                         // what reopen takes, here and in other processes
	get func(name string) []byte       // the document as it is stored
	set func(name string, data []byte) // puts one there
	// lapse waits until the leases of dead processes have lapsed; nil: they
	// lapse at once.
	lapse func(lost func() bool)
}

// testLease is short, so that tests can wait for its end.
const testLease = 1500 * time.Millisecond

// reopen opens a store that a test has made.
func reopen(url string) contractStore {
	if !strings.Contains(url, "://") {
		return &Dir{Path: url, Clock: SystemClock, LockWait: time.Minute}
	}
	r, err := OpenRedis(url, nil)
	if err != nil {
		panic(err)
	}
	r.Limit, r.Lease = time.Minute, testLease
	return r
}

// testContract holds for every store.
func testContract(t *testing.T, open func(t *testing.T) subject) {
	for name, test := range map[string]func(*testing.T, subject){
		"a circuit never seen is the zero one":     neverSeen,
		"a circuit comes back as it was":           roundTrip,
		"an error writes nothing":                  errorWritesNothing,
		"processes lose no update":                 processesLoseNothing,
		"readings see whole documents":             wholeReadings,
		"names come back":                          namesComeBack,
		"bad names are refused":                    badNames,
		"unknown fields survive a rewrite":         unknownSurvives,
		"a newer schema is not touched":            newerUntouched,
		"a damaged circuit does not end the list":  damagedInList,
		"a lease lapses with its holder":           leaseLapses,
		"a lease ends with the store":              leaseEndsWithClose,
		"a lease lives as long as its probe":       leaseLives,
		"a probe that is not listed has no effect": unlistedProbe,
		"only idle circuits are removed":           removal,
		"removal loses no update":                  removalLosesNothing,
		"the clock is the store's":                 storeClock,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func update(t *testing.T, s contractStore, name string, f func(breaker.Circuit, time.Time) (breaker.Circuit, error)) {
	t.Helper()
	if err := s.Update(context.Background(), name, f); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, s contractStore, name string) breaker.Circuit {
	t.Helper()
	c, _, found, err := s.Read(name)
	if err != nil || !found {
		t.Fatalf("Read(%q): found %v, %v", name, found, err)
	}
	return c
}

func neverSeen(t *testing.T, s subject) {
	_, _, found, err := s.Read("deploy")
	if found || err != nil {
		t.Errorf("Read: found %v, %v", found, err)
	}
	for range s.List() {
		t.Error("the list of an empty store has an entry")
	}
	if names, err := s.Names(); len(names) > 0 || err != nil {
		t.Errorf("Names: %q, %v", names, err)
	}
	removed, err := s.Remove(context.Background(), "deploy", func(breaker.Circuit, time.Time) bool { return true })
	if removed || err != nil {
		t.Errorf("Remove: %v, %v", removed, err)
	}
	update(t, s, "deploy", func(c breaker.Circuit, _ time.Time) (breaker.Circuit, error) {
		if !reflect.DeepEqual(c, breaker.Circuit{}) {
			t.Errorf("Update brings %+v", c)
		}
		return c, nil
	})
}

func roundTrip(t *testing.T, s subject) {
	want := typical(SystemClock().Wall)
	update(t, s, "deploy", put(want))
	if got := read(t, s, "deploy"); !reflect.DeepEqual(got, want) {
		t.Errorf("Read:\n%+v, want\n%+v", got, want)
	}
	update(t, s, "deploy", func(c breaker.Circuit, _ time.Time) (breaker.Circuit, error) {
		if !reflect.DeepEqual(c, want) {
			t.Errorf("Update brings\n%+v, want\n%+v", c, want)
		}
		return c, nil
	})
}

func errorWritesNothing(t *testing.T, s subject) {
	update(t, s, "deploy", increment)
	before := s.get("deploy")
	no := errors.New("no")
	err := s.Update(context.Background(), "deploy", func(c breaker.Circuit, _ time.Time) (breaker.Circuit, error) {
		c.Totals.Failures = 7
		return c, no
	})
	if err != no {
		t.Errorf("Update returns %v, not the function's error", err)
	}
	if !bytes.Equal(before, s.get("deploy")) {
		t.Error("the document has changed")
	}
}

func processesLoseNothing(t *testing.T, s subject) {
	const processes, times = 16, 12
	var children []*child
	for range processes {
		children = append(children, start(t, "count", s.url, "12", "deploy", "API"))
	}
	for _, c := range children {
		c.finish()
	}
	for _, name := range []string{"deploy", "API"} {
		if got := read(t, s, name).Totals.Successes; got != processes*times {
			t.Errorf("%s: %d updates, want %d", name, got, processes*times)
		}
	}
}

// wholeReadings writes circuits of very different size in which two numbers
// always agree.
func wholeReadings(t *testing.T, s subject) {
	var group sync.WaitGroup
	done := make(chan struct{})
	group.Go(func() {
		defer close(done)
		for i := range 100 {
			err := s.Update(context.Background(), "deploy", func(c breaker.Circuit, now time.Time) (breaker.Circuit, error) {
				c.Totals.Successes, c.Totals.Failures = i, i
				c.Calls = slices.Repeat([]breaker.Call{{At: now}}, i%10*100)
				return c, nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		c, _, _, err := s.Read("deploy")
		if err != nil || c.Totals.Successes != c.Totals.Failures || len(c.Calls) != c.Totals.Successes%10*100 {
			t.Errorf("Read: %d, %d, %d calls, %v", c.Totals.Successes, c.Totals.Failures, len(c.Calls), err)
			break
		}
	}
	group.Wait()
}

// oddNames are hard on file systems, keys and patterns.
func oddNames() []string {
	return []string{
		"deploy-api", "Deploy-API", "DEPLOY-API", "a", "A", "..", ".", "...", ".hidden", "-rf", "_", "~", "~a",
		"../../etc/passwd", "/etc/passwd", `C:\x`, "a/b", "a\\b", "a b", " a", "a ", "a.", "a..", "a*", "[ab]", "a?b",
		"{a}", "a:b", "con", "con.json", "CON", "nul", "com1", "com10", "lpt9.x", "aux.", "a.json", "a.lock", "a.tmp",
		"a.probes", "a.corrupt-20260101T000000.000000Z", "a.json.json", "a~0123456789abcdef", "straße", "STRASSE",
		"é", "e\u0301", "日本語", "🙂", "ſ", "K", "k", `"quoted"`, "<&>", "%s%d", "$HOME", "a'b",
		strings.Repeat("x", 100), strings.Repeat("x", 101), strings.Repeat("y", 200), strings.Repeat("é", 100),
	}
}

func namesComeBack(t *testing.T, s subject) {
	names := oddNames()
	for i, name := range names {
		update(t, s, name, func(c breaker.Circuit, _ time.Time) (breaker.Circuit, error) {
			c.Totals.Successes += i + 1
			return c, nil
		})
	}
	for i, name := range names {
		if got := read(t, s, name).Totals.Successes; got != i+1 {
			t.Errorf("%q holds %d, want %d", name, got, i+1)
		}
	}
	slices.Sort(names)
	if got, err := s.Names(); err != nil || !slices.Equal(got, names) {
		t.Errorf("Names: %q, %v, want %q", got, err, names)
	}
	var listed []string
	for entry, err := range s.List() {
		if err != nil {
			t.Error(err)
		}
		listed = append(listed, entry.Name)
	}
	if !slices.Equal(listed, names) {
		t.Errorf("List: %q, want %q", listed, names)
	}
}

func badNames(t *testing.T, s subject) {
	for _, name := range []string{"", "a\x00", "a\nb", "\x7f", "a\u0085", "\xff", strings.Repeat("x", 201)} {
		if err := s.Update(context.Background(), name, increment); err == nil {
			t.Errorf("Update(%q) succeeds", name)
		}
		if _, _, _, err := s.Read(name); err == nil {
			t.Errorf("Read(%q) succeeds", name)
		}
	}
}

func unknownSurvives(t *testing.T, s subject) {
	update(t, s, "deploy", addProbe("00000000000000aa"))
	update(t, s, "deploy", func(c breaker.Circuit, now time.Time) (breaker.Circuit, error) {
		c.Reason = "three <failures>"
		c.Probes[0].Leased = false
		c.History = []breaker.Transition{{At: now, From: "open", To: "half-open", Generation: 5}}
		return c, nil
	})
	data := string(s.get("deploy"))
	for _, known := range []string{`"schema"`, `"wall"`, `"successes"`, `"token"`, `"from"`, `"needed"`} {
		data = strings.Replace(data, known, `"later`+known[1:]+`: {"x": [1e400, null, 123456789012345678901]}, `+known, 1)
	}
	s.set("deploy", []byte(data))
	update(t, s, "deploy", func(c breaker.Circuit, now time.Time) (breaker.Circuit, error) {
		c.Totals.Failures++
		c.Reason = ""
		c.Probes = append([]breaker.Probe{{Token: "00000000000000bb", StartedAt: now, Deadline: now}}, c.Probes...)
		c.History = append(c.History, breaker.Transition{At: now, Generation: 6})
		return c, nil
	})
	after := string(s.get("deploy"))
	if got := strings.Count(after, `"later`); got != 6 || strings.Count(after, "123456789012345678901") != 6 || strings.Count(after, "1e400") != 6 {
		t.Errorf("%d of 6 unknown fields are left in\n%s", got, after)
	}
	if strings.Contains(after, "three") {
		t.Errorf("a field that was cleared is back:\n%s", after)
	}
	c := read(t, s, "deploy")
	if c.Totals.Failures != 1 || len(c.Probes) != 2 || len(c.History) != 2 {
		t.Errorf("the known fields became %+v", c)
	}
	if at := strings.Index(after, `"latertoken"`); at < strings.Index(after, "00000000000000bb") {
		t.Error("the field of one probe went to another")
	}
}

func newerUntouched(t *testing.T, s subject) {
	for _, newer := range []string{
		`{"schema":2,"name":"deploy","state":{"was":"a word"}}`,
		"{\n\"totals\":[],\n\"schema\":999}\n",
	} {
		s.set("deploy", []byte(newer))
		if err := s.Update(context.Background(), "deploy", increment); !errors.Is(err, ErrNewer) {
			t.Errorf("Update: %v, want ErrNewer", err)
		}
		if _, _, _, err := s.Read("deploy"); !errors.Is(err, ErrNewer) {
			t.Errorf("Read: %v, want ErrNewer", err)
		}
		yes := func(breaker.Circuit, time.Time) bool { return true }
		if _, err := s.Remove(context.Background(), "deploy", yes); !errors.Is(err, ErrNewer) {
			t.Errorf("Remove: %v, want ErrNewer", err)
		}
		if got := s.get("deploy"); string(got) != newer {
			t.Errorf("it became %s", got)
		}
	}
}

func damagedInList(t *testing.T, s subject) {
	for _, name := range []string{"a", "B", "c"} {
		update(t, s, name, increment)
	}
	s.set("B", []byte("{"))
	s.set("b", []byte("null"))
	var good, bad []string
	for entry, err := range s.List() {
		if err == nil {
			good = append(good, entry.Name)
		} else if errors.Is(err, ErrCorrupt) {
			bad = append(bad, entry.Name)
		}
	}
	if !slices.Equal(good, []string{"a", "c"}) || len(bad) != 2 {
		t.Errorf("listed %q and errors for %q", good, bad)
	}
}

// lost returns how many probes an admission would find dead.
func lost(c breaker.Circuit, now time.Time) int {
	next, _, _ := c.Admit(breaker.Default(), now, breaker.Caller{}, 1)
	return next.Totals.Lost - c.Totals.Lost
}

func seenLost(t *testing.T, s contractStore, name string) (byRead, byUpdate int) {
	t.Helper()
	c, now, _, err := s.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	byRead = lost(c, now)
	update(t, s, name, func(c breaker.Circuit, now time.Time) (breaker.Circuit, error) {
		byUpdate = lost(c, now)
		return c, nil
	})
	return byRead, byUpdate
}

func wantLost(t *testing.T, s contractStore, want int) {
	t.Helper()
	if byRead, byUpdate := seenLost(t, s, "deploy"); byRead != want || byUpdate != want {
		t.Errorf("Read sees %d lost probes, Update %d, want %d", byRead, byUpdate, want)
	}
}

func leaseLapses(t *testing.T, s subject) {
	holder := start(t, "probe", s.url, "deploy")
	holder.ready()
	update(t, s, "deploy", addProbe("00000000000000aa"))
	wantLost(t, s, 0)
	wantLost(t, reopen(s.url), 0) // ours is alive, too, to whoever else asks
	holder.kill()
	if s.lapse != nil {
		s.lapse(func() bool {
			byRead, _ := seenLost(t, s, "deploy")
			return byRead > 0
		})
	}
	wantLost(t, s, 1)
}

func leaseEndsWithClose(t *testing.T, s subject) {
	holder := start(t, "probe", s.url, "deploy", "close")
	holder.ready()
	wantLost(t, s, 1)
	holder.finish()
}

func leaseLives(t *testing.T, s subject) {
	other := reopen(s.url)
	defer other.Close()
	update(t, other, "deploy", addProbe("00000000000000aa"))
	for range 3 {
		update(t, s, "deploy", increment)
		update(t, other, "deploy", increment)
		wantLost(t, s, 0)
	}
	unlist := func(c breaker.Circuit, _ time.Time) (breaker.Circuit, error) {
		c.Probes = nil
		return c, nil
	}
	update(t, other, "deploy", unlist)
	update(t, s, "deploy", addProbe("00000000000000aa")) // the name is free again
	wantLost(t, other, 0)
	update(t, s, "deploy", unlist)
}

// unlistedProbe lets another take a probe off the list, as a reset does.
func unlistedProbe(t *testing.T, s subject) {
	holder := start(t, "probe", s.url, "deploy")
	holder.ready()
	update(t, s, "deploy", put(breaker.Circuit{}))
	update(t, s, "deploy", increment)
	wantLost(t, s, 0)
	holder.finish()
	update(t, s, "deploy", increment)
	if got := read(t, s, "deploy").Totals.Successes; got != 2 {
		t.Errorf("%d updates, want 2", got)
	}
}

func removal(t *testing.T, s subject) {
	update(t, s, "deploy", increment)
	update(t, s, "Other", increment)
	for _, idle := range []bool{false, true} {
		removed, err := s.Remove(context.Background(), "deploy", func(c breaker.Circuit, now time.Time) bool {
			if c.Totals.Successes != 1 || time.Since(now).Abs() > time.Minute {
				t.Errorf("asked about %+v at %v", c, now)
			}
			return idle
		})
		if removed != idle || err != nil {
			t.Errorf("Remove: %v, %v, want %v", removed, err, idle)
		}
		if _, _, found, err := s.Read("deploy"); found == idle || err != nil {
			t.Errorf("found %v afterwards, %v", found, err)
		}
	}
	update(t, s, "deploy", increment)
	if got := read(t, s, "deploy").Totals.Successes; got != 1 {
		t.Errorf("it starts with %d", got)
	}
	if got := read(t, s, "Other").Totals.Successes; got != 1 {
		t.Errorf("the other has %d", got)
	}
}

func removalLosesNothing(t *testing.T, s subject) {
	const writers, times = 4, 40
	var group, remover sync.WaitGroup
	var removed int
	done := make(chan struct{})
	remover.Go(func() {
		other := reopen(s.url)
		defer other.Close()
		for {
			select {
			case <-done:
				return
			default:
			}
			var seen int
			ok, err := other.Remove(context.Background(), "deploy", func(c breaker.Circuit, _ time.Time) bool {
				seen = c.Totals.Successes
				return true
			})
			if err != nil {
				t.Error(err)
				return
			}
			if ok {
				removed += seen
			}
		}
	})
	for range writers {
		group.Go(func() {
			other := reopen(s.url)
			defer other.Close()
			for range times {
				if err := other.Update(context.Background(), "deploy", increment); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	close(done)
	remover.Wait()
	c, _, _, err := s.Read("deploy")
	if err != nil {
		t.Fatal(err)
	}
	if got := removed + c.Totals.Successes; got != writers*times {
		t.Errorf("%d updates, want %d", got, writers*times)
	}
}

func storeClock(t *testing.T, s subject) {
	update(t, s, "deploy", func(c breaker.Circuit, now time.Time) (breaker.Circuit, error) {
		if time.Since(now).Abs() > time.Minute || now.Location() != time.UTC || now.Nanosecond()%1000 != 0 {
			t.Errorf("now is %v", now)
		}
		return c, nil
	})
	if _, now, _, err := s.Read("deploy"); err != nil || time.Since(now).Abs() > time.Minute {
		t.Errorf("Read at %v, %v", now, err)
	}
}
