package render

import (
	"io"

	"cb/internal/breaker"
)

// History writes the kept transitions of a circuit, newest last: when, from
// what to what, who or what caused it, how long it lasted, what was skipped.
func History(w io.Writer, v View, style Style) error {
	columns := []column{
		{title: "WHEN"},
		{title: "FROM"},
		{title: "TO"},
		{title: "CAUSE"},
		{title: "LASTED", right: true, drop: 1},
		{title: "SKIPPED", right: true, drop: 2},
	}
	var rows [][]string
	for _, stay := range v.stays() {
		t := stay.Transition
		lasted := Span(stay.lasted)
		if stay.current {
			lasted += " so far"
		}
		rows = append(rows, []string{t.At.Local().Format("2006-01-02 15:04:05"), t.From, t.To, causeText(t), lasted, itoa(stay.skipped)})
	}
	return writeTable(w, columns, rows, style.Width, func(row, _ int, cell string) string {
		if style.Colour && row < 0 {
			return paint(faint, cell)
		}
		return cell
	})
}

func causeText(t breaker.Transition) string {
	text := string(t.Cause)
	if t.By != "" {
		text += " " + Safe(t.By)
	}
	if t.Reason != "" {
		text += ": " + Safe(t.Reason)
	}
	if t.Code != breaker.NoCode {
		text += " (exit " + itoa(t.Code) + ")"
	}
	return text
}
