package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cb/internal/breaker"
)

// leave writes files of a certain age into a store, as a crash would.
func leave(t *testing.T, d *Dir, age time.Duration, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(d.Path, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(left(name)), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

// left is what a file of a name holds.
func left(name string) string {
	switch {
	case strings.HasSuffix(name, tempEnding):
		return documentStart + " "
	case strings.HasSuffix(name, refusedEnding):
		return fmt.Sprintf(refusedFormat, 7, 12)
	case strings.HasSuffix(name, lockEnding), strings.Contains(name, lockEnding+"-"), strings.Contains(name, probesEnding+"/"):
		return ""
	}
	return "left"
}

func swept(t *testing.T, d *Dir, age time.Duration, dryRun bool) []string {
	t.Helper()
	found, err := d.Sweep(age, dryRun)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, one := range found {
		if one.Was == "" {
			t.Errorf("%s was nothing", one.File)
		}
		files = append(files, one.File)
	}
	return files
}

func TestSweepRemovesWhatNobodyNeeds(t *testing.T) {
	const week = 7 * 24 * time.Hour
	d := newDir(t)
	update(t, d, "deploy", increment)
	update(t, d, "Odd name", increment)
	odd := baseName("Odd name")
	if err := d.SaveOutput("deploy", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	stays := []string{
		"deploy.json", "deploy.lock", "deploy.stdout", odd + ".json", odd + ".lock",
		"young.stdout", "young.lock", // the output of a circuit that was forgotten just now
		"young.tmp-0123456789abcdef", // somebody may be writing it
		"notes.txt", "README", "Some.lock", ".hidden.tmp", "a~b.lock",
		"young.corrupt-" + time.Now().UTC().Format(corruptTime),
	}
	leave(t, d, 0, stays[5:]...)
	goes := []string{
		"deploy.corrupt-20200101T000000.000000Z",
		"deploy.probes/0123456789abcdef",
		"deploy.tmp",
		"deploy.tmp-0123456789abcdef",
		"gone.lock",
		"gone.lock-0123456789abcdef",
		"gone.probes/0123456789abcdef",
		"gone.refused",
		"gone.stdout",
		"gone.stdout.tmp-0123456789abcdef",
		odd + ".tmp",
		"other.corrupt-20200101T000000.000000Z",
	}
	leave(t, d, 2*week, goes...)
	slices.Sort(goes)
	before := snapshotOf(t, d.Path)
	dry := swept(t, d, week, true)
	slices.Sort(dry)
	if !slices.Equal(dry, goes) {
		t.Errorf("a dry run names %q, want %q", dry, goes)
	}
	if after := snapshotOf(t, d.Path); after != before {
		t.Errorf("a dry run changes\n%s\nto\n%s", before, after)
	}
	got := swept(t, d, week, false)
	slices.Sort(got)
	if !slices.Equal(got, goes) {
		t.Errorf("it removes %q, want %q", got, goes)
	}
	slices.Sort(stays)
	wantFiles(t, d, stays...)
	if again := swept(t, d, week, false); again != nil {
		t.Errorf("and then %q", again)
	}
	if got := read(t, d, "deploy").Totals.Successes; got != 1 {
		t.Errorf("the circuit has %d", got)
	}
}

// TestSweepLeavesOthersAlone sweeps a directory that is shared with other
// things, beside circuits and without them.
func TestSweepLeavesOthersAlone(t *testing.T) {
	theirs := map[string]string{
		"yarn.lock":                                   "# yarn lockfile v1\n",
		"notes.tmp":                                   "remember the milk",
		"deploy.tmp":                                  "remember the milk",
		"job.refused":                                 "none of us\n",
		"empty.refused":                               "", // without a lock
		"deploy.refused":                              "none of us\n",
		"upper.refused":                               "000000000000000A 000000000000000B\n",
		"long.refused":                                fmt.Sprintf(refusedFormat, 7, 12) + "\n",
		"job.stdout":                                  "log\n", // without a lock
		"notes.corrupt-20200101":                      "mine",
		"build.corrupt-backup/precious":               "mine",
		"deploy.corrupt-a/precious":                   "mine",
		"deploy.corrupt-1":                            "mine",
		"gone.probes/README":                          "mine",
		"gone.probes/0123456789abcdef":                "",
		"other.probes/0123456789abcdef":               "mine",
		"deploy.probes/notes":                         "",
		"x.tmp-0123456789abcdeg":                      "mine",
		"x.tmp-0123456789ABCDEF":                      "mine",
		"x.lock-0123456789abcdef":                     "mine",
		"poetry.corrupt-20200101T000000":              "mine",
		"poetry.corrupt-20200101T000000.000000Z/file": "mine",
	}
	d := newDir(t)
	update(t, d, "deploy", increment)
	old := time.Now().Add(-1000 * time.Hour)
	write := func(name, text string, mode os.FileMode) {
		path := filepath.Join(d.Path, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range theirs {
		write(name, text, 0o600)
	}
	if runtime.GOOS != "windows" { // what others can read was not made by us
		write("flock.lock", "", 0o644)
		write("flock.stdout", "log", 0o644)
		write("empty.tmp", "", 0o644)
		write("young.tmp-0123456789abcdef", "", 0o644)
		write("old.refused", fmt.Sprintf(refusedFormat, 7, 12), 0o644)
	}
	before := snapshotOf(t, d.Path)
	for _, dryRun := range []bool{true, false} {
		if got := swept(t, d, time.Nanosecond, dryRun); got != nil {
			t.Errorf("it removes %q", got)
		}
		if after := snapshotOf(t, d.Path); after != before {
			t.Errorf("it changes\n%s\nto\n%s", before, after)
		}
	}
	// A circuit that is removed takes only its own with it, and one that runs
	// uses no name of theirs.
	trip(t, d, "deploy")
	update(t, d, "deploy", put(breaker.Circuit{}))
	update(t, d, "deploy", addProbe("00000000000000aa"))
	update(t, d, "deploy", put(breaker.Circuit{}))
	yes := func(breaker.Circuit, time.Time) bool { return true }
	if ok, err := d.Remove(context.Background(), "deploy", yes); !ok || err != nil {
		t.Errorf("Remove: %v, %v", ok, err)
	}
	update(t, d, "yarn", increment)
	if ok, err := d.Remove(context.Background(), "yarn", yes); !ok || err != nil {
		t.Errorf("Remove: %v, %v", ok, err)
	}
	for name, text := range theirs {
		if data, err := os.ReadFile(filepath.Join(d.Path, name)); err != nil || string(data) != text {
			t.Errorf("%s has %q, %v", name, data, err)
		}
	}
}

func TestSweepLeavesALockedCircuitAlone(t *testing.T) {
	d := newDir(t)
	update(t, d, "deploy", increment)
	if err := os.Remove(filepath.Join(d.Path, "deploy.json")); err != nil {
		t.Fatal(err)
	}
	leave(t, d, 0, "deploy.tmp")
	holder := start(t, "hold", d.Path, "deploy")
	holder.ready()
	if got := swept(t, d, time.Nanosecond, false); got != nil {
		t.Errorf("it removes %q", got)
	}
	holder.finish()
	if got := read(t, d, "deploy").Totals.Successes; got != 1 {
		t.Errorf("the circuit has %d", got)
	}
}

func TestSweepKeepsTheLeaseOfALivingProbe(t *testing.T) {
	d := newDir(t)
	holder := start(t, "probe", d.Path, "deploy")
	holder.ready()
	leave(t, d, 0, "deploy.probes/00000000000000aa")
	want := []string{"deploy.probes/00000000000000aa"}
	if got := swept(t, d, time.Nanosecond, false); !slices.Equal(got, want) {
		t.Errorf("it removes %q, want %q", got, want)
	}
	wantLost(t, d, 0)
	// Also when the circuit does not list it any more: its process will not
	// look, but another sweep would have to tell it from a dead one.
	if err := os.Remove(filepath.Join(d.Path, "deploy.json")); err != nil {
		t.Fatal(err)
	}
	if got := swept(t, d, time.Nanosecond, false); got != nil {
		t.Errorf("it removes %q", got)
	}
	holder.kill()
	want = []string{"deploy.probes/0123456789abcdef", "deploy.lock"}
	if got := swept(t, d, time.Nanosecond, false); !slices.Equal(got, want) {
		t.Errorf("after its death it removes %q, want %q", got, want)
	}
	wantFiles(t, d)
}

func TestSweepMakesNoStore(t *testing.T) {
	d := newDir(t)
	if got := swept(t, d, time.Hour, false); got != nil {
		t.Errorf("it removes %q", got)
	}
	if _, err := os.Stat(d.Path); !os.IsNotExist(err) {
		t.Errorf("there is something: %v", err)
	}
}

// TestSweepLosesNothing sweeps all the time while circuits come and go.
func TestSweepLosesNothing(t *testing.T) {
	const writers, times = 4, 40
	d := newDir(t)
	var group, sweeper sync.WaitGroup
	done := make(chan struct{})
	sweeper.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if _, err := d.Sweep(time.Nanosecond, false); err != nil {
				t.Error(err)
				return
			}
		}
	})
	var mu sync.Mutex
	removed := 0
	for writer := range writers {
		group.Go(func() {
			other := reopen(d.Path)
			defer other.Close()
			for i := range times {
				if err := other.Update(context.Background(), "deploy", increment); err != nil {
					t.Error(err)
					return
				}
				if writer == 0 && i%4 == 0 {
					seen := 0
					ok, err := other.Remove(context.Background(), "deploy", func(c breaker.Circuit, _ time.Time) bool {
						seen = c.Totals.Successes
						return true
					})
					if err != nil {
						t.Error(err)
						return
					}
					if ok {
						mu.Lock()
						removed += seen
						mu.Unlock()
					}
				}
			}
		})
	}
	group.Wait()
	close(done)
	sweeper.Wait()
	c, _, _, err := d.Read("deploy")
	if err != nil {
		t.Fatal(err)
	}
	if got := removed + c.Totals.Successes; got != writers*times {
		t.Errorf("%d updates, want %d", got, writers*times)
	}
}
