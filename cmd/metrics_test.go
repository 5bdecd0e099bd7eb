package cmd

import (
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cb/internal/breaker"
	"cb/internal/store"
)

// busyStore is a store in which others are at work: the circuit has got one
// more success at each of the first looks.
type busyStore struct {
	noStore
	looks, changes int
}

func (s *busyStore) List() iter.Seq2[store.Entry, error] {
	s.looks++
	c := breaker.Circuit{Totals: breaker.Totals{Successes: min(s.looks, s.changes)}}
	return func(yield func(store.Entry, error) bool) {
		yield(store.Entry{Name: "api", Circuit: c, Now: time.Date(2026, 3, 1, 14, 0, 0, 0, time.UTC)}, nil)
	}
}

// TestMetricsFileIsUpToDate looks at the file of a run beside which others end.
func TestMetricsFileIsUpToDate(t *testing.T) {
	for changes, last := range map[int]string{
		1: `cb_runs_total{circuit="api",result="success"} 1`,
		4: `cb_runs_total{circuit="api",result="success"} 4`,
	} {
		file := filepath.Join(t.TempDir(), "cb.prom")
		circuits := &busyStore{changes: changes}
		r := &run{env: &Env{Stderr: os.Stderr}, opts: &runOptions{metricsFile: file}, circuits: circuits}
		r.writeMetrics()
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), last+"\n") || circuits.looks != changes+1 {
			t.Errorf("after %d changes and %d looks (%v):\n%s", changes, circuits.looks, err, text)
		}
	}
	// One who is never done with it leaves it to the others.
	circuits := &busyStore{changes: 1 << 30}
	r := &run{
		env: &Env{Stderr: os.Stderr}, circuits: circuits,
		opts: &runOptions{metricsFile: filepath.Join(t.TempDir(), "cb.prom")},
	}
	r.writeMetrics()
	if circuits.looks != metricsTries {
		t.Errorf("%d looks, want %d", circuits.looks, metricsTries)
	}
}
