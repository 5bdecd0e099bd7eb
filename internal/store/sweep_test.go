package store

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"cb/internal/breaker"
)

// leave writes files of a certain age into a store.
func leave(t *testing.T, d *Dir, age time.Duration, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(d.Path, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("left"), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
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
