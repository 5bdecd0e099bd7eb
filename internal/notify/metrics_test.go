package notify

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"cb/internal/breaker"
)

// samples are circuits of each kind, with a name that has to be escaped.
func samples(t *testing.T) []Sample {
	t.Helper()
	now := time.Date(2026, 3, 1, 14, 0, 0, 500_000, time.UTC)
	policy := breaker.Default()
	policy.Threshold = 2
	failed := func(c breaker.Circuit) breaker.Circuit {
		c, permit, err := c.Admit(policy, now, breaker.Caller{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		return c.Record(policy, permit, breaker.Call{At: now, Outcome: breaker.Failure, Code: 7, Took: 1500 * time.Millisecond}, 2)
	}
	order := breaker.Order{At: now, By: "alice", Seed: 3}
	byHand := breaker.Circuit{}.Observe(breaker.Call{At: now, Outcome: breaker.Failure, Code: breaker.NoCode}, 4)
	return []Sample{
		SampleOf(`a "b\c"`, failed(failed(breaker.Circuit{}))),
		SampleOf("by hand", byHand),
		SampleOf("held", failed(breaker.Circuit{}).Hold(order)),
		SampleOf("new", breaker.Circuit{}),
	}
}

func metrics(t *testing.T, of []Sample) string {
	t.Helper()
	var text strings.Builder
	if err := Metrics(&text, of); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestMetricsTellEachCircuit(t *testing.T) {
	text := metrics(t, samples(t))
	if !strings.HasSuffix(text, "\n") {
		t.Error("no final newline")
	}
	for _, line := range []string{
		`cb_circuit_state{circuit="a \"b\\c\"",state="open"} 1`,
		`cb_circuit_state{circuit="a \"b\\c\"",state="closed"} 0`,
		`cb_circuit_state{circuit="held",state="held"} 1`,
		`cb_circuit_state{circuit="held",state="closed"} 0`,
		`cb_circuit_state{circuit="new",state="closed"} 1`,
		`cb_circuit_open_until_timestamp_seconds{circuit="a \"b\\c\""} 1772373900.0005`,
		`cb_circuit_consecutive_failures{circuit="held"} 1`,
		`cb_runs_total{circuit="a \"b\\c\"",result="failure"} 2`,
		`cb_runs_total{circuit="new",result="refused"} 0`,
		`cb_transitions_total{circuit="a \"b\\c\"",to="open"} 1`,
		`cb_transitions_total{circuit="held",to="held"} 1`,
		`cb_last_run_duration_seconds{circuit="held"} 1.5`,
		`cb_last_run_timestamp_seconds{circuit="held"} 1772373600.0005`,
		`cb_last_run_timestamp_seconds{circuit="by hand"} 1772373600.0005`,
	} {
		if n := strings.Count(text, line+"\n"); n != 1 {
			t.Errorf("%d lines %s in\n%s", n, line, text)
		}
	}
	for _, start := range []string{
		`cb_circuit_open_until_timestamp_seconds{circuit="held"`, `cb_circuit_open_until_timestamp_seconds{circuit="new"`,
		`cb_last_run_duration_seconds{circuit="by hand"`, `cb_last_run_timestamp_seconds{circuit="new"`,
	} {
		if strings.Contains(text, start) {
			t.Errorf("%s is told, which nobody knows", start)
		}
	}
}

// TestMetricsStandTogether demands what a parser of the format does: the lines
// of a family in one group, below its help and its type.
func TestMetricsStandTogether(t *testing.T) {
	for _, of := range [][]Sample{nil, samples(t)} {
		current := ""
		seen := map[string]bool{}
		for line := range strings.Lines(metrics(t, of)) {
			if name, ok := strings.CutPrefix(line, "# HELP "); ok {
				current, _, _ = strings.Cut(name, " ")
				if seen[current] {
					t.Errorf("%s twice", current)
				}
				seen[current] = true
				continue
			}
			if !strings.HasPrefix(line, "# TYPE "+current+" ") && !strings.HasPrefix(line, current+"{") {
				t.Errorf("in the group of %s: %s", current, line)
			}
		}
		if len(seen) != len(families()) {
			t.Errorf("%d families, want %d", len(seen), len(families()))
		}
	}
}

func TestMetricsPleasePromtool(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil && strings.Contains(os.Getenv("CB_TEST_REQUIRE"), "prometheus") {
		t.Fatal("promtool is required and not there")
	}
	if err != nil {
		t.Skip("promtool is not installed (Debian: prometheus)")
	}
	for _, of := range [][]Sample{nil, samples(t)} {
		c := exec.Command(promtool, "check", "metrics")
		c.Stdin = strings.NewReader(metrics(t, of))
		if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

func TestMetricsTellOfAWriteError(t *testing.T) {
	broken := errors.New("broken")
	if err := Metrics(failing{broken}, samples(t)); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func BenchmarkMetricsOfTenThousand(b *testing.B) {
	of := make([]Sample, 10_000)
	for i := range of {
		of[i] = SampleOf("circuit-"+strconv.Itoa(i), breaker.Circuit{}.Trip(breaker.Order{At: time.Unix(int64(i), 0), Seed: 1}))
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := Metrics(io.Discard, of); err != nil {
			b.Fatal(err)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
