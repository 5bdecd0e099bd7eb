package render

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"cb/internal/breaker"
)

// Style says what the reader's terminal can show.
type Style struct {
	Colour bool
	Width  int // columns; 0 sets no limit
}

// stripLength is how many outcomes the strip of a table shows.
const stripLength = 10

// StatusTable writes circuits at a glance, newest trouble first. When the
// width does not do, columns give way in this order: LAST, SKIPPED, FAILED,
// RUNS, SINCE, STREAK.
func StatusTable(w io.Writer, views []View, style Style) error {
	views = slices.Clone(views)
	slices.SortStableFunc(views, func(a, b View) int {
		return cmp.Or(
			cmp.Compare(trouble(a.Circuit), trouble(b.Circuit)),
			newest(a, b),
			strings.Compare(a.Name, b.Name),
		)
	})
	columns := []column{
		{title: "NAME"},
		{title: "STATE"},
		{title: "SINCE", right: true, drop: 2},
		{title: "STREAK", right: true, drop: 1},
		{title: "NEXT TRY", right: true},
		{title: "RUNS", right: true, drop: 3},
		{title: "FAILED", right: true, drop: 4},
		{title: "SKIPPED", right: true, drop: 5},
		{title: "LAST", drop: 6},
	}
	rows := make([][]string, len(views))
	for i, v := range views {
		c := v.Circuit
		rows[i] = []string{
			Safe(v.Name), glyph(c) + " " + v.stateText(), v.sinceText(), v.streakText(), v.nextTry(),
			itoa(c.Totals.Runs()), itoa(c.Totals.Failures), itoa(c.Totals.Refused), strip(c.Calls, stripLength),
		}
	}
	return writeTable(w, columns, rows, style.Width, func(row, column int, cell string) string {
		switch {
		case !style.Colour:
			return cell
		case row < 0:
			return paint(faint, cell)
		case column == 1:
			return paint(stateColour(views[row].Circuit), cell)
		case column == 8:
			return paintStrip(cell)
		}
		return cell
	})
}

// newest orders trouble by age; what is well stays in the order of the names.
func newest(a, b View) int {
	if trouble(a.Circuit) == well {
		return 0
	}
	return b.since().Compare(a.since())
}

// well is the rank of a circuit that is no trouble.
const well = 4

// trouble ranks what an operator wants to see first.
func trouble(c breaker.Circuit) int {
	switch {
	case c.Override.Kind == breaker.Held:
		return 2
	case c.Override.Kind == breaker.Disabled:
		return 3
	case c.State != breaker.Closed:
		return 1
	}
	return well
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
	if v.Circuit.Override.Kind == breaker.NoOverride && v.Circuit.ProbeDue(v.Now) {
		return "open, probe due"
	}
	return v.Circuit.Shown()
}

func (v View) sinceText() string {
	since := v.since()
	if since.IsZero() {
		return "-"
	}
	return Span(v.Now.Sub(since)) + " ago"
}

func (v View) streakText() string {
	c := v.Circuit
	if !c.Policy.HasWindow() {
		return itoa(c.Streak)
	}
	calls, failures := c.Window(c.Policy, v.Now)
	if calls == 0 {
		return "0/0"
	}
	return itoa(failures) + "/" + itoa(calls)
}

func (v View) nextTry() string {
	c := v.Circuit
	switch {
	case c.Override.Kind == breaker.Held && !c.Override.Until.IsZero():
		return "in " + Span(c.Override.Until.Sub(v.Now))
	case c.Override.Kind != breaker.NoOverride || c.State != breaker.Open:
		return "-"
	case c.ProbeDue(v.Now):
		return "now"
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
