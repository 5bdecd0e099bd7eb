package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Level is how good a finding is.
type Level string

// The levels.
const (
	Good    Level = "ok"
	Warning Level = "warn"
	Failure Level = "fail"
)

// Finding is the result of one check.
type Finding struct {
	Check  string
	Level  Level
	Detail string
	Hint   string // what to do, or ""
}

// Findings are the results of all checks, in order.
type Findings []Finding

// Count returns how many are of a level.
func (f Findings) Count(level Level) int {
	n := 0
	for _, one := range f {
		if one.Level == level {
			n++
		}
	}
	return n
}

// Write writes a line for each finding, what to do below it, and a summary.
func (f Findings) Write(w io.Writer, style Style) error {
	widest := 0
	for _, one := range f {
		widest = max(widest, textWidth(one.Check))
	}
	out := bufio.NewWriter(w)
	for _, one := range f {
		level := pad(string(one.Level), len(Warning), false, false)
		if style.Colour {
			level = paint(one.Level.colour(), level)
		}
		check := pad(one.Check, widest, false, false)
		fmt.Fprintf(out, "%s%s%s%s%s\n", level, gap, check, gap, Safe(one.Detail))
		if one.Hint != "" {
			fmt.Fprintf(out, "%s→ %s\n", strings.Repeat(" ", len(Warning)+widest+2*len(gap)), Safe(one.Hint))
		}
	}
	fmt.Fprintf(out, "\n%s\n", f.summary())
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write findings: %w", err)
	}
	return nil
}

func (l Level) colour() string {
	switch l {
	case Good:
		return green
	case Warning:
		return yellow
	case Failure:
	}
	return red
}

func (f Findings) summary() string {
	failures, warnings := f.Count(Failure), f.Count(Warning)
	switch {
	case failures == 0 && warnings == 0:
		return "all is well"
	case failures == 0:
		return "it works, with " + plural(warnings, "warning")
	case warnings == 0:
		return plural(failures, "failure")
	}
	return plural(failures, "failure") + ", " + plural(warnings, "warning")
}

// The documented schema of `cb doctor --json`.
type findingsJSON struct {
	OK     bool          `json:"ok"` // nothing fails
	Checks []findingJSON `json:"checks"`
}

type findingJSON struct {
	Check  string  `json:"check"`
	Level  Level   `json:"level"`
	Detail string  `json:"detail"`
	Hint   *string `json:"hint"`
}

// WriteJSON writes the findings in the documented schema.
func (f Findings) WriteJSON(w io.Writer) error {
	object := findingsJSON{OK: f.Count(Failure) == 0, Checks: make([]findingJSON, len(f))}
	for i, one := range f {
		object.Checks[i] = findingJSON{one.Check, one.Level, one.Detail, text(one.Hint)}
	}
	return encode(w, "", object)
}

// Bytes writes a size for people: "12.3 GB", "512 MB".
func Bytes(n uint64) string {
	size, unit := float64(n), "bytes"
	for _, next := range []string{"kB", "MB", "GB", "TB", "PB"} {
		if size < 1000 {
			break
		}
		size, unit = size/1000, next
	}
	if unit == "bytes" || size >= 100 {
		return fmt.Sprintf("%.0f %s", size, unit)
	}
	return fmt.Sprintf("%.1f %s", size, unit)
}
