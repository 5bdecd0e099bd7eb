package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"cb/internal/breaker"
)

func TestAllContendersGetThrough(t *testing.T) {
	const contenders = 200
	d := newDir(t)
	var group sync.WaitGroup
	for range contenders {
		group.Go(func() {
			other := &Dir{Path: d.Path, Clock: SystemClock, LockWait: 30 * time.Second}
			if err := other.Update(context.Background(), "deploy", increment); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := read(t, d, "deploy").Totals.Successes; got != contenders {
		t.Errorf("%d updates, want %d", got, contenders)
	}
}

func TestWaitForTheLockEnds(t *testing.T) {
	d := newDir(t)
	holder := start(t, "hold", d.Path, "deploy")
	holder.ready()
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, test := range []struct {
		name string
		ctx  context.Context
		wait time.Duration
		want error
	}{
		{"after LockWait", context.Background(), 50 * time.Millisecond, ErrLocked},
		{"with the context", canceled, time.Minute, context.Canceled},
	} {
		d.LockWait = test.wait
		if err := d.Update(test.ctx, "deploy", increment); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
		if _, _, found, err := d.Read("deploy"); found || err != nil {
			t.Errorf("Read beside the lock: %v, %v", found, err)
		}
		d.LockWait = time.Minute
		update(t, d, "other", increment) // has a lock of its own
	}
	holder.finish()
	// The waits that were given up must not keep the lock.
	update(t, d, "deploy", increment)
	if got := read(t, d, "deploy").Totals.Successes; got != 2 {
		t.Errorf("%d updates, want the holder's and ours", got)
	}
}

// reluctant is a lock that gives way only when it has been asked so often.
type reluctant struct{ asked, gives int }

func (r *reluctant) Unlock() error {
	if r.asked++; r.asked < r.gives {
		return os.ErrDeadlineExceeded
	}
	return nil
}

func TestUnlockAsksAgain(t *testing.T) {
	for _, test := range []struct{ gives, asked int }{{1, 1}, {2, 2}, {4, 4}, {100, 4}} {
		lock := reluctant{gives: test.gives}
		if unlock(&lock); lock.asked != test.asked {
			t.Errorf("gives way when asked %d times: it was asked %d times, want %d", test.gives, lock.asked, test.asked)
		}
	}
}

func TestACanceledContextDoesNotStopWhoNeedNotWait(t *testing.T) {
	d := newDir(t)
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	if err := d.Update(canceled, "deploy", increment); err != nil {
		t.Error(err)
	}
}

func TestALockEndsWithItsHolder(t *testing.T) {
	d := newDir(t)
	holder := start(t, "hold", d.Path, "deploy", "orphan")
	killLater(t, holder.line())
	holder.ready()
	holder.kill()
	d.LockWait = 10 * time.Second // the orphan lives a minute
	update(t, d, "deploy", increment)
}

// killLater ends a process that a child has left behind.
func killLater(t *testing.T, pid string) {
	t.Helper()
	number, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if orphan, err := os.FindProcess(number); err == nil {
			orphan.Kill()
		}
	})
}

// TestKilledWritersDoNoHarm kills processes at any moment of an update.
func TestKilledWritersDoNoHarm(t *testing.T) {
	const storms = 25
	d := newDir(t)
	acknowledged := map[string]int{}
	for range storms {
		var writers []*child
		for range 3 {
			writers = append(writers, start(t, "count", d.Path, "1000000", "deploy", "API"))
		}
		for _, writer := range writers {
			for range 1 + rand.IntN(8) {
				acknowledged[writer.line()]++
			}
		}
		for _, writer := range writers {
			if err := writer.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			for line := writer.line(); line != ""; line = writer.line() {
				acknowledged[line]++
			}
			writer.Wait()
		}
		for _, name := range []string{"deploy", "API"} {
			read(t, d, name)
		}
	}
	for _, name := range []string{"deploy", "API"} {
		update(t, d, name, func(c breaker.Circuit, _ time.Time) (breaker.Circuit, error) {
			least := acknowledged[name]
			if got := c.Totals.Successes; least == 0 || got < least || got > least+3*storms {
				t.Errorf("%s: %d updates, want those that were acknowledged: %d", name, got, least)
			}
			return c, nil
		})
	}
}
