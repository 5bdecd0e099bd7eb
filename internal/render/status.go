package render

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"cb/internal/breaker"
)

// Style says what the reader's terminal can show.
type Style struct {
	Colour bool
	Width  int // columns; 0 sets no limit
}

// stripLength is how many outcomes the strip of a table shows, leastStrip how
// many it keeps where there is not the room.
const (
	stripLength = 10
	leastStrip  = 5
	leastName   = 8 // columns
)

// The columns of the table of circuits.
const (
	columnName = iota
	columnState
	columnSince
	columnStreak
	columnNextTry
	columnRuns
	columnFailed
	columnSkipped
	columnLast
	columnCount
)

// statusColumns are the columns with the order in which they give way when the
// terminal is too narrow; cb status --help states it.
func statusColumns() []column {
	return []column{
		columnName:    {title: "NAME", middle: leastName},
		columnState:   {title: "STATE"},
		columnSince:   {title: "SINCE", right: true, drop: 2},
		columnStreak:  {title: "STREAK", right: true, drop: 3},
		columnNextTry: {title: "NEXT TRY", right: true, drop: 1},
		columnRuns:    {title: "RUNS", right: true, drop: 7},
		columnFailed:  {title: "FAILED", right: true, drop: 6},
		columnSkipped: {title: "SKIPPED", right: true, drop: 5},
		columnLast:    {title: "LAST", drop: 4, tail: leastStrip},
	}
}

// Row is a circuit at a glance. Thousands of them are small where as many
// circuits are not.
type Row struct {
	name    string
	trouble time.Time // since when; zero when it is well
	colour  string
	cells   [columnCount]string
}

// Row returns the circuit's row in the table.
func (v View) Row() Row {
	c := v.Circuit
	row := Row{name: v.Name, colour: stateColour(c), cells: [columnCount]string{
		Safe(v.Name), glyph(c) + " " + v.stateText(), v.sinceText(), v.streakCell(), v.nextTry(),
		itoa(c.Totals.Runs()), itoa(c.Totals.Failures), itoa(c.Totals.Refused), strip(c.Calls, stripLength),
	}}
	if c.Override.Kind != breaker.NoOverride || c.State != breaker.Closed {
		row.trouble = v.troubleSince()
	}
	return row
}

// StatusTable writes circuits at a glance: those that are not closed, newest
// trouble first, then the others by name. It sorts the rows.
func StatusTable(w io.Writer, rows []Row, style Style) error {
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(b.trouble.Compare(a.trouble), strings.Compare(a.name, b.name))
	})
	cells := make([][]string, len(rows))
	for i := range rows {
		cells[i] = rows[i].cells[:]
	}
	return writeTable(w, statusColumns(), cells, style.Width, func(row, column int, cell string) string {
		switch {
		case !style.Colour:
			return cell
		case row < 0:
			return paint(faint, cell)
		case column == columnState:
			return paint(rows[row].colour, cell)
		case column == columnLast:
			return paintStrip(cell)
		}
		return cell
	})
}

// glyph is the state's sign.
func glyph(c breaker.Circuit) string {
	switch c.Override.Kind {
	case breaker.Held:
		return "■"
	case breaker.Disabled:
		return "‖"
	case breaker.NoOverride:
	}
	switch c.State {
	case breaker.Open:
		return "○"
	case breaker.HalfOpen:
		return "◐"
	case breaker.Closed:
	}
	return "●"
}

func (v View) stateText() string {
	if v.probeDue() {
		return v.Circuit.Shown() + ", probe due"
	}
	return v.Circuit.Shown()
}

// probeDue reports whether the next run is let through to probe.
func (v View) probeDue() bool {
	return v.Circuit.Override.Kind == breaker.NoOverride && v.Circuit.ProbeDue(v.Now)
}

// troubleSince returns when an outage or an override began, however often the
// circuit has probed and opened again since; the zero time for a circuit that
// has always been closed.
func (v View) troubleSince() time.Time {
	c := v.Circuit
	if c.Override.Kind == breaker.NoOverride && c.State != breaker.Closed && !c.OpenedAt.IsZero() {
		return c.OpenedAt
	}
	return v.since()
}

func (v View) sinceText() string {
	since := v.troubleSince()
	if since.IsZero() {
		return "-"
	}
	return Span(v.Now.Sub(since)) + " ago"
}

// streakCell is the streak, or the failures and runs of the window.
func (v View) streakCell() string {
	c := v.Circuit
	if !c.Policy.HasWindow() {
		return itoa(c.Streak)
	}
	calls, failures := c.Window(c.Policy, v.Now)
	return itoa(failures) + "/" + itoa(calls)
}

func (v View) nextTry() string {
	c := v.Circuit
	switch {
	case c.Override.Kind == breaker.Held && !c.Override.Until.IsZero():
		return "in " + Span(c.Override.Until.Sub(v.Now))
	case c.Override.Kind != breaker.NoOverride || c.State == breaker.Closed:
		return "-"
	case c.ProbeDue(v.Now):
		return "now"
	case c.State == breaker.HalfOpen:
		return "-" // as soon as a probe has ended
	}
	return "in " + Span(c.RetryAt.Sub(v.Now))
}

// strip shows the newest outcomes, newest last.
func strip(calls []breaker.Call, most int) string {
	var text strings.Builder
	for _, call := range calls[max(0, len(calls)-most):] {
		switch call.Outcome {
		case breaker.Success:
			text.WriteString("✓")
		case breaker.Failure:
			text.WriteString("✗")
		case breaker.Slow:
			text.WriteString("◷")
		case breaker.Ignored:
			text.WriteString("·")
		}
	}
	return text.String()
}
