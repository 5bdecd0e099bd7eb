package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cb/internal/breaker"
)

// refuse asks an open circuit once.
func refuse(t *testing.T, d *Dir, name string) {
	t.Helper()
	err := d.Update(context.Background(), name, func(c breaker.Circuit, now time.Time) (breaker.Circuit, error) {
		after, _, refused := c.Admit(breaker.Default(), now, breaker.Caller{}, 1)
		if refused == nil {
			t.Fatal("permitted")
		}
		return after, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// trip opens a circuit and lets the policy of refuse be the one last used.
func trip(t *testing.T, d *Dir, name string) {
	t.Helper()
	update(t, d, name, func(c breaker.Circuit, now time.Time) (breaker.Circuit, error) {
		return c.Trip(breaker.Order{At: now, For: time.Hour, Seed: 1}), nil
	})
	refuse(t, d, name)
}

func documentOf(t *testing.T, d *Dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(d.Path, name+dataEnding))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func wantRefused(t *testing.T, d *Dir, name string, want int) {
	t.Helper()
	c := read(t, d, name)
	if c.Totals.Refused != want || c.Skipped != want {
		t.Errorf("refused %d, skipped %d; want %d", c.Totals.Refused, c.Skipped, want)
	}
}

func TestRefusalsLeaveTheDocumentAlone(t *testing.T) {
	d := newDir(t)
	trip(t, d, "deploy")
	before := documentOf(t, d, "deploy")
	for range 20 {
		refuse(t, d, "deploy")
	}
	wantRefused(t, d, "deploy", 21)
	if after := documentOf(t, d, "deploy"); after != before {
		t.Errorf("the document was\n%s\nand is\n%s", before, after)
	}
	// The next change takes them up, and voids the count beside it.
	update(t, d, "deploy", func(c breaker.Circuit, now time.Time) (breaker.Circuit, error) {
		return c.Hold(breaker.Order{At: now, Seed: 1}), nil
	})
	wantRefused(t, d, "deploy", 21)
	refuse(t, d, "deploy")
	wantRefused(t, d, "deploy", 22)
}

// A count must never be taken for that of another writing of the document.
func TestCountOfAnotherWritingIsVoid(t *testing.T) {
	d := newDir(t)
	trip(t, d, "deploy")
	refuse(t, d, "deploy")
	file := filepath.Join(d.Path, "deploy"+refusedEnding)
	count, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	update(t, d, "deploy", func(c breaker.Circuit, now time.Time) (breaker.Circuit, error) {
		return c.Hold(breaker.Order{At: now, Seed: 1}), nil
	})
	wantRefused(t, d, "deploy", 2)
	for _, text := range []string{string(count), "", "\x00\x00", "zz zz\n", "0000000000000000 0000000000000009\n", string(count[:20])} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		wantRefused(t, d, "deploy", 2)
	}
	refuse(t, d, "deploy")
	wantRefused(t, d, "deploy", 3)
}

func TestRefusalsAreCountedWhateverLiesInTheWay(t *testing.T) {
	d := newDir(t)
	trip(t, d, "deploy")
	if err := os.Mkdir(filepath.Join(d.Path, "deploy"+refusedEnding), 0o700); err != nil {
		t.Fatal(err)
	}
	refuse(t, d, "deploy")
	wantRefused(t, d, "deploy", 2)
}

func TestRemoveForgetsRefusals(t *testing.T) {
	d := newDir(t)
	trip(t, d, "deploy")
	refuse(t, d, "deploy")
	if _, err := d.Remove(context.Background(), "deploy", func(breaker.Circuit, time.Time) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(d.Path, "deploy"+refusedEnding)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the count is still there: %v", err)
	}
}

// TestACountThatWasCutShortIsNotLeftForGood leaves what a full disk or a death
// makes of a count.
func TestACountThatWasCutShortIsNotLeftForGood(t *testing.T) {
	for _, text := range []string{"", "0123", strings.Repeat("\x00", 20)} {
		for _, gone := range []bool{false, true} {
			d := newDir(t)
			trip(t, d, "deploy")
			if err := os.WriteFile(filepath.Join(d.Path, "deploy"+refusedEnding), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if gone {
				if err := os.Remove(filepath.Join(d.Path, "deploy"+dataEnding)); err != nil {
					t.Fatal(err)
				}
				swept(t, d, time.Hour, false)
			} else if _, err := d.Remove(context.Background(), "deploy", func(breaker.Circuit, time.Time) bool { return true }); err != nil {
				t.Fatal(err)
			}
			wantFiles(t, d)
		}
	}
}

// A reading takes no lock and reads two files. It must not bring a document
// together with a count that has gone on to the next one: then refusals that
// were seen before would be missing.
func TestReadingsNeverLoseRefusals(t *testing.T) {
	d := newDir(t)
	trip(t, d, "deploy")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 500 {
			refuse(t, d, "deploy")
			update(t, d, "deploy", func(c breaker.Circuit, now time.Time) (breaker.Circuit, error) {
				return c.Trip(breaker.Order{At: now, For: time.Hour, Seed: uint64(i)}), nil
			})
		}
	}()
	last := 0
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		now := read(t, d, "deploy").Totals.Refused
		if now < last {
			t.Errorf("%d refusals, after %d", now, last)
		}
		last = now
	}
}

// Neither what is no count nor what has a second name is written over, and the
// refusals are counted all the same.
func TestRefusalsWriteOverNothingElse(t *testing.T) {
	for _, linked := range []bool{false, true} {
		d := newDir(t)
		trip(t, d, "deploy")
		theirs, text := filepath.Join(d.Path, "deploy"+refusedEnding), "refused by the bank\n"
		if linked {
			text = "0000000000000001 0000000000000001\n"
		}
		if err := os.WriteFile(theirs, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if linked {
			if err := os.Link(theirs, filepath.Join(d.Path, "victim")); err != nil {
				t.Skip(err)
			}
		}
		for range 2 {
			refuse(t, d, "deploy")
		}
		wantRefused(t, d, "deploy", 3)
		if data, err := os.ReadFile(theirs); err != nil || string(data) != text {
			t.Errorf("it became %q, %v", data, err)
		}
	}
}
