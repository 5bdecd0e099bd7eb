package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestFaults makes one system call of the state path fail, or kills cb there,
// for each call, each occurrence and each error, in each scene. Whatever fails:
// the command's own code comes back, the circuit is the old or the new one, an
// outcome that was not kept is told, the next run works, and nothing is left
// behind for good.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	needsStrace(t)
	points, wait := workers()
	var tried atomic.Int64
	stride, n := size(61, 37, 1), 0
	for _, scene := range scenes() {
		play := rehearse(t, scene)
		made, paths := play.open(t).calls(nil, nil, scene.args...)
		for _, what := range pointsOf(made) {
			if n++; n%stride == 0 || slices.Contains(once(scene.name), what) {
				points <- func() {
					if play.disturb(t, paths, what) {
						tried.Add(1)
					}
				}
			}
		}
	}
	wait()
	t.Logf("%d points tried of at most %d", tried.Load(), n)
	if tried.Load() < int64(n/stride/4) {
		t.Errorf("only %d of %d points could be tried", tried.Load(), n/stride)
	}
}

// TestSecondFaults makes one system call of the state path fail and then, of
// those that cb makes after that, another one, or all of a kind from there on,
// or kills it there. What TestFaults wants of one fault holds of two.
func TestSecondFaults(t *testing.T) {
	if os.Getenv("CB_TEST_LONG") == "" {
		t.Skip("takes long")
	}
	needsStrace(t)
	points, wait := workers()
	var tried, all atomic.Int64
	stride, n := size(0, 599, 11), 0
	for _, scene := range scenes() {
		play := rehearse(t, scene)
		made, paths := play.open(t).calls(nil, nil, scene.args...)
		for _, first := range pointsOf(made) {
			if !slices.Contains(firstFaults(first.call), first.what) {
				continue
			}
			if n++; n%stride != 0 {
				continue
			}
			points <- func() {
				s := play.open(t)
				made, _ := s.calls([]injection{first}, paths, play.args...)
				s.close()
				for _, two := range secondFaults(first, made) {
					all.Add(1)
					if play.disturb(t, paths, two...) {
						tried.Add(1)
					}
				}
			}
		}
	}
	wait()
	t.Logf("%d points tried of at most %d, after %d first faults", tried.Load(), all.Load(), n/stride)
	if tried.Load() < all.Load()/4 {
		t.Errorf("only %d of %d points could be tried", tried.Load(), all.Load())
	}
}

// firstFaults are the errors of a system call after which cb goes different
// ways.
func firstFaults(call string) []string {
	var all []string
	for i, name := range strings.Fields(fits()[call]) {
		if i == 0 || name == "EINTR" || name == "EOPNOTSUPP" {
			all = append(all, "error="+name)
		}
	}
	return all
}

// secondFaults lists what can go wrong after the first fault: of each kind of
// the calls that followed it, the first three, all together, and death at the
// first. strace can do one thing alone to the calls of one kind.
func secondFaults(first injection, made []call) [][]injection {
	var all [][]injection
	times := map[string]int{}
	for _, next := range made {
		errors := fits()[next.name]
		if times[next.name]++; !next.after {
			times[next.name] = 0
			continue
		}
		if errors == "" || times[next.name] > 3 {
			continue
		}
		again := times[next.name] == 1 && first.what != "error=EINTR" // for ever is no interruption
		if next.name == first.call {
			if step := next.nth - first.at; step > 0 {
				both := first
				both.more = fmt.Sprintf("..%d+%d", next.nth, step)
				all = append(all, []injection{both})
			}
			if again {
				both := first
				both.more = "+"
				all = append(all, []injection{both})
			}
			continue
		}
		second := injection{call: next.name, what: "error=" + strings.Fields(errors)[0], at: next.nth}
		all = append(all, []injection{first, second})
		if times[next.name] == 1 {
			dead := second
			second.more, dead.what = "+", "signal=KILL"
			all = append(all, []injection{first, second}, []injection{first, dead})
		}
	}
	return all
}

// workers starts some that do what is sent to them; wait ends them.
func workers() (points chan<- func(), wait func()) {
	work := make(chan func())
	var group sync.WaitGroup
	for range 2 * runtime.NumCPU() { // most of the time is waiting
		group.Go(func() {
			for point := range work {
				point()
			}
		})
	}
	return work, func() {
		close(work)
		group.Wait()
	}
}

// once are the points at which cb once did wrong; they are always tried.
func once(scene string) []injection {
	switch scene {
	case "first refusal":
		return []injection{{call: "write", what: "error=ENOSPC", at: 1}} // a count without a number was left for good
	case "second refusal":
		return []injection{{call: "read", what: "error=EIO", at: 2}} // the count began anew, without a word
	case "probe that closes":
		return []injection{{call: "renameat", what: "error=EINTR", at: 1}, {call: "close", what: "error=EINTR", at: 2}} // it ran without its circuit
	case "first run":
		// cb waited for its own lock; the one or the other meets the unlock,
		// since each thread counts its own.
		return []injection{{call: "flock", what: "error=EINTR", at: 1}, {call: "flock", what: "error=EINTR", at: 2}}
	}
	return nil
}

// pointsOf lists what can be done to these calls, one at a time.
func pointsOf(made []call) []injection {
	count := map[string]int{}
	for _, one := range made {
		count[one.name]++
	}
	var all []injection
	for call, times := range count {
		if fits()[call] == "" {
			continue
		}
		for at := range times {
			for _, what := range injections(call) {
				all = append(all, injection{call: call, what: what, at: at + 1})
			}
		}
	}
	slices.SortFunc(all, func(a, b injection) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// disturb plays the scene once with these injections and reports whether they
// took place.
func (p *play) disturb(t *testing.T, paths []string, all ...injection) bool {
	s := p.open(t)
	defer s.close()
	end := s.inject(all, paths, p.args...)
	if !end.took(all) {
		return false
	}
	complain := func(format string, args ...any) {
		t.Errorf("%s: %v: %s\nended with %d (killed %v), stderr:\n%sstdout:\n%s\n%s", p.name, all,
			fmt.Sprintf(format, args...), end.code, end.killed, end.stderr, end.stdout, injectedLines(end.log))
	}
	got, err := s.look()
	if err != nil && !p.damaged {
		complain("the circuit cannot be read: %v", err)
	}
	wrong := p.judge(end, got)
	if wrong == "" && len(all) == 1 && all[0].more == "" && all[0].what == "error=EINTR" && !p.damaged && (end.warned() || end.code != p.code) {
		wrong = "a call that was interrupted is to be made again"
	}
	if wrong != "" {
		complain("%s\nit became %+v\nbefore %+v\nadmitted %+v\nafter %+v", wrong, got, p.old, p.mid, p.new)
	}
	if last := all[len(all)-1]; !end.killed && strings.HasPrefix(last.what, "signal") {
		complain("it should have been killed")
	}
	if wrong := p.afterwards(s); wrong != "" {
		complain("afterwards: %s", wrong)
	}
	return true
}

func injectedLines(log string) string {
	var lines []string
	for line := range strings.Lines(log) {
		if strings.Contains(line, "(INJECTED)") || strings.Contains(line, "(DELAYED)") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// judge says what is wrong with how cb ended and the circuit that it left.
func (p *play) judge(end ending, got sketch) string {
	told := end.warned() || end.code == 125
	switch {
	case !slices.Contains(p.possible(), got):
		return "the circuit is neither the old nor the new one"
	case end.killed:
	case end.code != p.code && (end.code != p.without || !told):
		return fmt.Sprintf("want the code %d, or with a word about it %d", p.code, p.without)
	case end.code == p.code && !told && got != p.new && !slices.Contains(p.blind(), got):
		return "nothing was said, but the circuit is not the new one"
	case end.code == p.code && !told && end.stdout != p.stdout:
		return "nothing was said, but the output is not " + p.stdout
	case strings.Contains(end.stderr, "cannot save api") && got == p.new && p.new != p.old && p.new != p.mid:
		return "the circuit was saved, but the contrary was said"
	}
	return ""
}

// possible are the circuits that may be left.
func (p *play) possible() []sketch {
	all := append(p.blind(), p.old, p.mid, p.new)
	if p.damaged {
		all = append(all, sketch{}) // it was set aside
	}
	return all
}

// blind is what the circuit becomes when it cannot be told that a probe is
// lost: it is left to its limit.
func (p *play) blind() []sketch {
	if p.old.probes == 0 {
		return nil
	}
	overdue, probing, waiting := p.new, p.old, p.old
	overdue.totals.Lost = p.old.totals.Lost
	probing.probes++
	waiting.totals.Refused++
	return []sketch{overdue, probing, waiting}
}

// afterwards says what is wrong with the store once the disturbance is over.
func (p *play) afterwards(s stage) string {
	before, _ := s.look()
	s.act("clock", "2h")
	beside := s.agedBeside()
	next := s.act(inCircuit("true", beside...)...)
	if next.code != 0 || strings.Contains(next.stderr, "warning") && !p.damaged {
		return fmt.Sprintf("the next run ended with %d: %s", next.code, next.stderr)
	}
	after, err := s.look()
	if err != nil || after.totals.Successes != before.totals.Successes+1 || after.shown != "closed" {
		return fmt.Sprintf("the next run made %+v of %+v: %v", after, before, err)
	}
	for _, name := range s.files() {
		if strings.HasSuffix(name, ".tmp") || name == "api.probes" && before.probes > 0 {
			return "the next run left " + name
		}
	}
	if left, _ := filepath.Glob(s.path("state/.cb-*")); len(left) > 0 {
		return fmt.Sprintf("the next run left %q", left)
	}
	if err := s.forget(); err != nil {
		return fmt.Sprintf("cb prune: %v", err)
	}
	if left := s.files(); len(left) > 0 {
		return fmt.Sprintf("left for good: %q", left)
	}
	return ""
}

// agedBeside lets what was left beside the store look old. It returns flags
// that have files written there.
func (s stage) agedBeside() []string {
	left, err := filepath.Glob(s.path("state/.cb-*"))
	for _, path := range left {
		old := time.Now().Add(-2 * time.Hour)
		err = errors.Join(err, os.Chtimes(path, old, old))
	}
	if err != nil {
		s.Fatal(err)
	}
	if len(left) == 0 {
		return nil
	}
	return files()
}
