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
	var tried atomic.Int64
	points := make(chan func())
	var group sync.WaitGroup
	for range 2 * runtime.NumCPU() { // most of the time is waiting
		group.Go(func() {
			for point := range points {
				point()
			}
		})
	}
	stride, n := size(61, 7, 1), 0
	for _, scene := range scenes() {
		play := rehearse(t, scene)
		count, paths := play.open(t).calls(scene.args...)
		for _, what := range pointsOf(count) {
			if n++; n%stride == 0 || slices.Contains(once(scene.name), what) {
				points <- func() {
					if play.disturb(t, what, paths) {
						tried.Add(1)
					}
				}
			}
		}
	}
	close(points)
	group.Wait()
	t.Logf("%d points tried of at most %d", tried.Load(), n)
	if tried.Load() < int64(n/stride/4) {
		t.Errorf("only %d of %d points could be tried", tried.Load(), n/stride)
	}
}

// once are the points at which cb once did wrong; they are always tried.
func once(scene string) []injection {
	switch scene {
	case "second refusal":
		return []injection{{"read", "error=EIO", 2}} // the count began anew, without a word
	case "probe that closes":
		return []injection{{"renameat", "error=EINTR", 1}, {"close", "error=EINTR", 2}} // it ran without its circuit
	case "lost probe":
		return []injection{{"flock", "error=EINTR", 2}} // cb waited for its own lock
	}
	return nil
}

// pointsOf lists what can be done to these calls, one at a time.
func pointsOf(count map[string]int) []injection {
	var all []injection
	for call, times := range count {
		if fits()[call] == "" {
			continue
		}
		for at := range times {
			for _, what := range injections(call) {
				all = append(all, injection{call, what, at + 1})
			}
		}
	}
	slices.SortFunc(all, func(a, b injection) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return all
}

// disturb plays the scene once with one injection and reports whether that
// took place.
func (p *play) disturb(t *testing.T, what injection, paths []string) bool {
	s := p.open(t)
	defer s.close()
	end := s.inject(what, paths, p.args...)
	if end.hits == 0 {
		return false // a thread made fewer of these calls
	}
	complain := func(format string, args ...any) {
		t.Errorf("%s: %s %s when=%d: %s\nended with %d (killed %v), stderr:\n%sstdout:\n%s\n%s", p.name, what.call, what.what, what.at,
			fmt.Sprintf(format, args...), end.code, end.killed, end.stderr, end.stdout, injectedLines(end.log))
	}
	got, err := s.look()
	if err != nil && !p.damaged {
		complain("the circuit cannot be read: %v", err)
	}
	wrong := p.judge(end, got)
	if wrong == "" && what.what == "error=EINTR" && !p.damaged && (end.warned() || end.code != p.code) {
		wrong = "a call that was interrupted is to be made again"
	}
	if wrong != "" {
		complain("%s\nit became %+v\nbefore %+v\nadmitted %+v\nafter %+v", wrong, got, p.old, p.mid, p.new)
	}
	if !end.killed && strings.HasPrefix(what.what, "signal") {
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
