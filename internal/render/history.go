package render

import (
	"io"
	"time"

	"cb/internal/breaker"
)

// History writes the kept transitions of a circuit, newest last: when, from
// what to what, who or what caused it, how long it lasted, what was skipped.
func History(w io.Writer, v View, style Style) error {
	columns := []column{
		{title: "WHEN"},
		{title: "FROM", drop: 1},
		{title: "TO"},
		{title: "CAUSE", middle: leastCause},
		{title: "LASTED", right: true, drop: 2},
		{title: "SKIPPED", right: true, drop: 3},
	}
	var rows [][]string
	for _, stay := range v.stays() {
		t := stay.Transition
		lasted := Span(stay.lasted)
		if stay.current {
			lasted += " so far"
		}
		rows = append(rows, []string{t.At.Local().Format("2006-01-02 15:04:05"), t.From, t.To, v.causeText(t), lasted, itoa(stay.skipped)})
	}
	return writeTable(w, columns, rows, style.Width, func(row, _ int, cell string) string {
		if style.Colour && row < 0 {
			return paint(faint, cell)
		}
		return cell
	})
}

func (v View) causeText(t breaker.Transition) string {
	text := string(t.Cause)
	if t.Cause == breaker.ByProbe || t.Cause == breaker.ByLost {
		return Safe(t.Reason) + v.how(t) // it says that it was a probe
	}
	if t.By != "" {
		text += " " + Safe(t.By)
	}
	if t.Reason != "" {
		text += ": " + Safe(t.Reason)
	}
	return text + v.how(t)
}

// leastCause is how much of a cause, in columns, is shown in any case.
const leastCause = 8

// transitionJSON is the documented schema of cb history --json.
type transitionJSON struct {
	At         time.Time     `json:"at"`
	From       string        `json:"from"`
	To         string        `json:"to"`
	Cause      breaker.Cause `json:"cause"`
	Reason     *string       `json:"reason"`
	By         *string       `json:"by"`
	ExitCode   *int          `json:"exit_code"`
	Lasted     *float64      `json:"seconds"` // how long To lasted; null: until now
	Skipped    int           `json:"skipped"` // refusals while To lasted
	Generation uint64        `json:"generation"`
}

// HistoryJSON writes the kept transitions of a circuit as an array, newest last.
func HistoryJSON(w io.Writer, v View) error {
	rows := []transitionJSON{}
	for _, stay := range v.stays() {
		t := stay.Transition
		row := transitionJSON{
			At: t.At.UTC(), From: t.From, To: t.To, Cause: t.Cause, Reason: text(t.Reason), By: text(t.By),
			ExitCode: code(t.Code), Skipped: stay.skipped, Generation: t.Generation,
		}
		if !stay.current {
			lasted := stay.lasted.Seconds()
			row.Lasted = &lasted
		}
		rows = append(rows, row)
	}
	return encode(w, "", rows)
}

// stay is a transition and what came of it.
type stay struct {
	breaker.Transition
	lasted  time.Duration
	skipped int
	current bool
}

func (v View) stays() []stay {
	history := v.Circuit.History
	stays := make([]stay, len(history))
	for i, t := range history {
		end, refused := v.Now, v.Circuit.Totals.Refused
		if i+1 < len(history) {
			end, refused = history[i+1].At, history[i+1].Refused
		}
		stays[i] = stay{t, max(0, end.Sub(t.At)), max(0, refused-t.Refused), i+1 == len(history)}
	}
	return stays
}
