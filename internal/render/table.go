package render

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// column is one column of a table. When the table is too wide, first those
// with a tail keep only the ends of their cells, of at least that width; then
// columns give way, those with a larger drop first, 0 never; and at last those
// with a middle lose what is in the middle of their cells, down to that width.
type column struct {
	title        string
	right        bool
	drop         int
	tail, middle int
}

// gap divides two columns.
const gap = "  "

// writeTable writes rows under their titles, aligned by the width that a
// terminal gives each text, within most columns; 0 sets no limit. Cells are
// plain text; paint may add colour to a cell that is already padded.
func writeTable(w io.Writer, columns []column, rows [][]string, most int, paint func(row, column int, cell string) string) error {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = textWidth(c.title)
		for _, row := range rows {
			widths[i] = max(widths[i], textWidth(row[i]))
		}
	}
	kept := fit(columns, widths, most)
	var out strings.Builder
	line := func(row int, cell func(i int) string) {
		for n, i := range kept {
			text := columns[i].cut(cell(i), widths[i])
			last := n == len(kept)-1
			if n > 0 && (!last || text != "") {
				out.WriteString(gap)
			}
			out.WriteString(paint(row, i, pad(text, widths[i], columns[i].right, last)))
		}
		out.WriteByte('\n')
	}
	line(-1, func(i int) string { return columns[i].title })
	for n, row := range rows {
		line(n, func(i int) string { return row[i] })
	}
	if _, err := io.WriteString(w, out.String()); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// fit returns the columns that are shown and narrows the widths of those that
// give way in part.
func fit(columns []column, widths []int, most int) []int {
	kept := make([]int, len(columns))
	for i := range columns {
		kept[i] = i
	}
	if most <= 0 {
		return kept
	}
	// over is by how much the kept columns are too wide.
	over := func() int {
		total := -len(gap)
		for _, i := range kept {
			total += widths[i] + len(gap)
		}
		return total - most
	}
	full := slices.Clone(widths)
	for i, c := range columns {
		if c.tail > 0 && over() > 0 {
			widths[i] = min(full[i], max(c.tail, textWidth(c.title)))
		}
	}
	for over() > 0 {
		victim := slices.MaxFunc(kept, func(a, b int) int { return columns[a].drop - columns[b].drop })
		if columns[victim].drop == 0 {
			break
		}
		kept = slices.DeleteFunc(kept, func(i int) bool { return i == victim })
	}
	for _, i := range kept {
		if columns[i].tail > 0 {
			widths[i] = min(full[i], widths[i]-min(over(), 0))
		}
		if columns[i].middle > 0 && over() > 0 {
			widths[i] = min(full[i], max(columns[i].middle, full[i]-over()))
		}
	}
	return kept
}

// cut makes a cell fit into its column.
func (c column) cut(cell string, to int) string {
	switch width := textWidth(cell); {
	case width <= to:
		return cell
	case c.middle > 0:
		return withoutMiddle(cell, to)
	}
	for textWidth(cell) > to {
		cell = cell[next(cell, 0):]
	}
	return cell
}

// withoutMiddle takes out of the middle of a text what is too wide: names
// often differ at their ends.
func withoutMiddle(text string, to int) string {
	room := to - 1 // for the ellipsis
	head, tail := 0, len(text)
	for textWidth(text[:next(text, head)]) <= (room+1)/2 {
		head = next(text, head)
	}
	room -= textWidth(text[:head])
	for {
		_, size := utf8.DecodeLastRuneInString(text[:tail])
		if textWidth(text[tail-size:]) > room {
			break
		}
		tail -= size
	}
	for tail < len(text) && textWidth(text[tail:next(text, tail)]) == 0 {
		tail = next(text, tail) // a mark whose letter is gone
	}
	return text[:head] + "…" + text[tail:]
}

// next returns where the rune at an index ends.
func next(text string, at int) int {
	_, size := utf8.DecodeRuneInString(text[at:])
	return at + size
}

// pad fills a cell to its width; the last of a line gets no trailing blanks.
func pad(cell string, to int, right, last bool) string {
	fill := strings.Repeat(" ", max(0, to-textWidth(cell)))
	switch {
	case right:
		return fill + cell
	case last:
		return cell
	}
	return cell + fill
}

// textWidth returns how many columns a terminal gives to a text.
func textWidth(text string) int {
	columns := 0
	for _, r := range text {
		switch {
		case r < 0x300:
			columns++
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf), 0x1160 <= r && r <= 0x11ff:
			// joined to what stands before it; the latter are the ends of Hangul syllables
		default:
			columns++
			if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
				columns++
			}
		}
	}
	return columns
}

// Safe makes a text fit for one line of a terminal: control characters, and
// characters that reorder or break lines, become "?".
func Safe(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), r == '\u2028', r == '\u2029', r == unicode.ReplacementChar,
			'\u202a' <= r && r <= '\u202e', '\u2066' <= r && r <= '\u2069':
			return '?'
		}
		return r
	}, text)
}

func itoa(n int) string { return strconv.Itoa(n) }
