package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestMetricsFileOfManyRuns lets runs of several circuits write one file. Who
// reads it finds it whole, and the last one leaves nobody's result out.
func TestMetricsFileOfManyRuns(t *testing.T) {
	f := newFleet(t)
	if err := os.Mkdir(f.path("collected"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := f.path("collected/cb.prom")
	run := func(n int) {
		c := f.cb("run", "--name", fmt.Sprintf("c%d", n%7), "--threshold", "1000", "--metrics-file", file, "-c", fmt.Sprintf("exit %d", n%2))
		if out, err := c.CombinedOutput(); c.ProcessState.ExitCode() != n%2 || len(out) > 0 {
			t.Errorf("%v\n%s", err, out)
		}
	}
	run(0)
	var group sync.WaitGroup
	for n := range crowd {
		group.Go(func() { run(n) })
	}
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	for over := false; !over; {
		select {
		case <-done:
			over = true
		default:
		}
		text, err := os.ReadFile(file)
		_, last, whole := strings.Cut(string(text), "# TYPE cb_last_run_timestamp_seconds gauge\n")
		if err != nil || !whole || !strings.HasSuffix(last, "\n") {
			t.Fatalf("half a file (%v):\n%s", err, text)
		}
	}
	written, err := os.ReadFile(file)
	now, also := f.cb("metrics").Output()
	if err != nil || also != nil || !bytes.Equal(written, now) {
		t.Errorf("the file (%v):\n%s\nthe store (%v):\n%s", err, written, also, now)
	}
	if left, err := filepath.Glob(f.path("collected/.*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}
