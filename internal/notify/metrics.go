package notify

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"cb/internal/breaker"
)

// Sample is what the metrics tell of one circuit. It is small and can be
// compared, so that ten thousand of them can be held.
type Sample struct {
	Name      string
	shown     string
	streak    int
	retryAt   int64 // microseconds of the Unix epoch, 0 unless open
	lastAt    int64 // the same of the last run, 0 when there was none
	lastTook  time.Duration
	lastTimed bool
	totals    breaker.Totals
	entered   breaker.Entries
}

// SampleOf returns the sample of a circuit as it stands.
func SampleOf(name string, c breaker.Circuit) Sample {
	s := Sample{Name: name, shown: c.Shown(), streak: c.Streak, totals: c.Totals, entered: c.Entered}
	if c.State == breaker.Open {
		s.retryAt = c.RetryAt.UnixMicro()
	}
	if n := len(c.Calls); n > 0 {
		last := c.Calls[n-1]
		s.lastAt, s.lastTook = last.At.UnixMicro(), last.Took
		s.lastTimed = last.Code != breaker.NoCode || last.Took > 0 // else it was recorded by hand
	}
	return s
}

// family is one metric: its lines must stand together.
type family struct {
	name, kind, help string
	points           func(Sample) []point
}

// point is one value of a circuit; label, when not empty, tells it from its kin.
type point struct {
	label, word string
	value       float64
}

// families are all metrics. Names, types and help texts are a contract: a
// collector drops series whose help differs between files.
func families() []family {
	return []family{
		{"cb_circuit_state", "gauge", "Whether this is what holds for the circuit now.", statePoints},
		{"cb_circuit_open_until_timestamp_seconds", "gauge", "When an open circuit will let a probe through.", untilPoint},
		{"cb_circuit_consecutive_failures", "gauge", "Failures in a row while closed.", streakPoint},
		{"cb_runs_total", "counter", "Runs by result; refused ones were not started.", runPoints},
		{"cb_transitions_total", "counter", "Transitions by the state or override that was entered.", transitionPoints},
		{"cb_last_run_duration_seconds", "gauge", "How long the last run that counted took.", durationPoint},
		{"cb_last_run_timestamp_seconds", "gauge", "When the last run that counted ended.", lastPoint},
	}
}

func statePoints(s Sample) []point {
	words := []string{
		breaker.Closed.String(), breaker.Open.String(), breaker.HalfOpen.String(),
		string(breaker.Held), string(breaker.Disabled),
	}
	points := make([]point, len(words))
	for i, word := range words {
		points[i] = point{label: "state", word: word}
		if word == s.shown {
			points[i].value = 1
		}
	}
	return points
}

func runPoints(s Sample) []point {
	t := s.totals
	return counts("result", []string{"success", "failure", "ignored", "late", "lost", "refused"},
		t.Successes, t.Failures, t.Ignored, t.Late, t.Lost, t.Refused)
}

func transitionPoints(s Sample) []point {
	e := s.entered
	return counts("to", []string{"closed", "open", "half-open", "held", "disabled"},
		e.Closed, e.Open, e.HalfOpen, e.Held, e.Disabled)
}

func counts(label string, words []string, values ...int) []point {
	points := make([]point, len(words))
	for i, word := range words {
		points[i] = point{label, word, float64(values[i])}
	}
	return points
}

func streakPoint(s Sample) []point { return []point{{value: float64(s.streak)}} }
func untilPoint(s Sample) []point  { return instantPoint(s.retryAt) }
func lastPoint(s Sample) []point   { return instantPoint(s.lastAt) }

func instantPoint(micros int64) []point {
	if micros == 0 {
		return nil
	}
	return []point{{value: float64(micros) / 1e6}}
}

func durationPoint(s Sample) []point {
	if s.lastAt == 0 || !s.lastTimed {
		return nil
	}
	return []point{{value: s.lastTook.Seconds()}}
}

// Metrics writes samples in the text format of Prometheus.
func Metrics(w io.Writer, samples []Sample) error {
	out := bufio.NewWriterSize(w, 64<<10)
	var line []byte
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	for _, f := range families() {
		fmt.Fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, f.kind)
		for _, s := range samples {
			circuit := f.name + `{circuit="` + escape.Replace(s.Name) + `"`
			for _, p := range f.points(s) {
				line = append(line[:0], circuit...)
				if p.label != "" {
					line = append(append(append(append(line, ','), p.label...), `="`...), p.word...)
					line = append(line, '"')
				}
				line = strconv.AppendFloat(append(line, "} "...), p.value, 'f', -1, 64)
				_, _ = out.Write(append(line, '\n')) // Flush tells
			}
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write metrics: %w", err)
	}
	return nil
}
