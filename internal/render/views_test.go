package render

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cb/internal/breaker"
)

var update = flag.Bool("update", false, "write the golden files")

func TestMain(m *testing.M) {
	time.Local = time.UTC // what people see is local
	os.Exit(m.Run())
}

// noon is when the stories below are looked at.
func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// story is a circuit that is made step by step.
type story struct {
	c      breaker.Circuit
	policy breaker.Policy
	now    time.Time
	seed   uint64
}

func newStory(before time.Duration) *story {
	return &story{policy: breaker.Default(), now: noon().Add(-before)}
}

func (s *story) wait(d time.Duration) *story { s.now = s.now.Add(d); return s }

// run asks for a permit, and if there is one records the outcome.
func (s *story) run(outcome breaker.Outcome, code int, took time.Duration) *story {
	s.seed++
	next, permit, err := s.c.Admit(s.policy, s.now, breaker.Caller{PID: 4242, Host: "db1"}, s.seed)
	s.c = next
	if err == nil {
		s.wait(took)
		s.c = s.c.Record(s.policy, permit, breaker.Call{At: s.now, Outcome: outcome, Code: code, Took: took}, s.seed)
	}
	return s
}

// probing asks for a permit and keeps it.
func (s *story) probing() *story {
	s.seed++
	s.c, _, _ = s.c.Admit(s.policy, s.now, breaker.Caller{PID: 4242, Host: "db1", Leased: true}, s.seed)
	return s
}

// acquiring is probing, but by a permit that no process holds.
func (s *story) acquiring() *story {
	s.seed++
	s.c, _, _ = s.c.Admit(s.policy, s.now, breaker.Caller{PID: 4242, Host: "db1", Ticket: true}, s.seed)
	return s
}

func (s *story) order(f func(breaker.Circuit, breaker.Order) breaker.Circuit, reason string, length time.Duration) *story {
	s.seed++
	s.c = f(s.c, breaker.Order{At: s.now, By: "alice", Reason: reason, For: length, Seed: s.seed})
	return s
}

func (s *story) view(name string) View {
	return View{Name: name, Circuit: s.c.Found(noon()), Now: noon()}
}

// stories are circuits in every state.
func stories() []View {
	open := newStory(time.Minute).run(breaker.Success, 0, time.Second)
	for range 3 {
		open.run(breaker.Failure, 7, 2*time.Second)
	}
	open.run(breaker.Success, 0, 0).run(breaker.Success, 0, 0)

	flapping := newStory(3*24*time.Hour - time.Minute)
	flapping.policy.Timeout, flapping.policy.Backoff = time.Hour, 2
	flapping.policy.MaxTimeout = 24 * time.Hour
	for range 3 {
		flapping.run(breaker.Failure, 1, time.Minute)
	}
	for range 4 {
		flapping.wait(13*time.Hour).run(breaker.Failure, 1, time.Minute).run(breaker.Success, 0, 0)
	}

	due := newStory(time.Hour)
	due.policy.Threshold = 1
	due.run(breaker.Failure, 2, 3*time.Millisecond)

	probing := newStory(time.Hour)
	probing.policy.Threshold = 1
	probing.run(breaker.Failure, 2, 3*time.Millisecond).wait(59 * time.Minute).probing()

	held := newStory(2*time.Hour).run(breaker.Success, 0, time.Second).run(breaker.Failure, 3, 4*time.Second)
	held.wait(time.Hour).order(breaker.Circuit.Hold, "database migration", 3*time.Hour).run(breaker.Success, 0, 0)

	disabled := newStory(48*time.Hour).order(breaker.Circuit.Disable, "", 0)

	window := newStory(10 * time.Minute)
	window.policy.WindowCalls, window.policy.Threshold = 20, 10
	for i := range 12 {
		window.run([]breaker.Outcome{breaker.Success, breaker.Success, breaker.Failure, breaker.Slow, breaker.Ignored}[i%5], i%5, time.Duration(i)*time.Second)
	}

	tripped := newStory(time.Minute).order(breaker.Circuit.Trip, "status page\nsays \x1b[31moutage", time.Hour)

	return append(moreStories(), []View{
		open.view("deploy-api"), flapping.view("flapping"), due.view("due"), probing.view("probing"),
		held.view("backup 本番"), disabled.view("cafe\u0301"), window.view("window"), tripped.view("tripped"),
		newStory(0).view("never"),
	}...)
}

// moreStories are circuits whose probes and runs ended in uncommon ways.
func moreStories() []View {
	opened := func() *story {
		s := newStory(time.Hour)
		s.policy.Threshold, s.policy.ProbeLimit = 1, 50*time.Minute
		return s.run(breaker.Failure, 2, 3*time.Millisecond).wait(6 * time.Minute)
	}
	overdue := opened().probing()
	acquired := opened().wait(30 * time.Minute).acquiring()
	lost := opened().wait(51 * time.Minute).probing()
	lost.c = lost.c.Lose(lost.c.Probes[0].Token)
	slow := newStory(time.Minute)
	slow.policy.Threshold = 1
	slow.run(breaker.Slow, 0, 102*time.Millisecond)
	matched := newStory(time.Minute)
	matched.policy.Threshold = 1
	matched.run(breaker.Failure, 0, time.Millisecond)
	byHand := newStory(time.Minute)
	byHand.policy.Threshold = 1
	byHand.run(breaker.Failure, 9, 0).order(breaker.Circuit.Trip, "vendor outage until noon", 2*time.Hour)
	held := opened().probing().order(breaker.Circuit.Hold, "", 0)
	return []View{
		overdue.view("overdue"), acquired.view("acquired"), lost.view("lost"), slow.view("slow"),
		matched.view("matched"), byHand.view("by hand"), held.view("held while probing"),
	}
}

// golden compares a text with a file of testdata.
func golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

func table(t *testing.T, style Style) string {
	t.Helper()
	var rows []Row
	for _, view := range stories() {
		rows = append(rows, view.Row())
	}
	var out strings.Builder
	if err := StatusTable(&out, rows, style); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestStatusTable(t *testing.T) {
	golden(t, "table.txt", table(t, Style{}))
	golden(t, "table-80.txt", table(t, Style{Width: 80}))
	golden(t, "table-colour.txt", table(t, Style{Colour: true}))
}

func TestStatusDetail(t *testing.T) {
	var out strings.Builder
	for _, view := range stories() {
		if err := StatusDetail(&out, view, Style{Width: 80}); err != nil {
			t.Fatal(err)
		}
		out.WriteString("----\n")
	}
	for line := range strings.SplitSeq(out.String(), "\n") {
		if textWidth(line) > 80 {
			t.Errorf("%d wide: %s", textWidth(line), line)
		}
	}
	golden(t, "detail.txt", out.String())
}

func TestHistory(t *testing.T) {
	var out strings.Builder
	for _, view := range stories() {
		if err := History(&out, view, Style{}); err != nil {
			t.Fatal(err)
		}
		out.WriteString("----\n")
	}
	golden(t, "history.txt", out.String())
	for width := 40; width < 120; width++ {
		out.Reset()
		for _, view := range stories() {
			if err := History(&out, view, Style{Width: width}); err != nil {
				t.Fatal(err)
			}
		}
		for line := range strings.Lines(out.String()) {
			if got := textWidth(strings.TrimSuffix(line, "\n")); got > width {
				t.Errorf("%d wide, want %d: %s", got, width, line)
			}
		}
	}
}

func TestJSON(t *testing.T) {
	var out bytes.Buffer
	list := NewArray(&out)
	for _, view := range stories() {
		if err := list.Add(view); err != nil {
			t.Fatal(err)
		}
	}
	if err := list.End(); err != nil {
		t.Fatal(err)
	}
	golden(t, "status.json", out.String())
	var history bytes.Buffer
	if err := HistoryJSON(&history, stories()[len(moreStories())+1]); err != nil {
		t.Fatal(err)
	}
	golden(t, "history.json", history.String())
}

func TestAnEmptyArray(t *testing.T) {
	var out bytes.Buffer
	if err := NewArray(&out).End(); err != nil || out.String() != "[]\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// brokenWriter fails as a full disk does.
type brokenWriter struct{}

var errFull = errors.New("no space left on device")

func (brokenWriter) Write([]byte) (int, error) { return 0, errFull }

func TestErrorsAreTold(t *testing.T) {
	view := stories()[0]
	list := NewArray(brokenWriter{})
	for what, err := range map[string]error{
		"table":        StatusTable(brokenWriter{}, []Row{view.Row()}, Style{}),
		"detail":       StatusDetail(brokenWriter{}, view, Style{}),
		"history":      History(brokenWriter{}, view, Style{}),
		"history JSON": HistoryJSON(brokenWriter{}, view),
		"JSON":         errors.Join(list.Add(view), list.End()),
	} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", time.Nanosecond: "1s", 27 * time.Second: "27s", 90 * time.Second: "1m30s",
		10*time.Minute + time.Second: "11m", 125 * time.Minute: "2h5m", 76*time.Hour + time.Second: "3d5h",
	} {
		if got := Span(d); got != want {
			t.Errorf("Span(%v) is %s, want %s", d, got, want)
		}
	}
}
