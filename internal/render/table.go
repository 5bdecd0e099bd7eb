package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// column is one column of a table. Columns with a larger drop give way first
// when the table is too wide; 0 never does.
type column struct {
	title string
	right bool
	drop  int
}

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
			last := n == len(kept)-1
			if n > 0 {
				out.WriteString("  ")
			}
			out.WriteString(paint(row, i, pad(cell(i), widths[i], columns[i].right, last)))
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

// fit returns the columns that are shown: it drops them, largest drop first,
// until the rest fits.
func fit(columns []column, widths []int, most int) []int {
	shown := make([]bool, len(columns))
	total := -2
	for i := range columns {
		shown[i] = true
		total += widths[i] + 2
	}
	for most > 0 && total > most {
		victim := -1
		for i, c := range columns {
			if shown[i] && c.drop > 0 && (victim < 0 || c.drop > columns[victim].drop) {
				victim = i
			}
		}
		if victim < 0 {
			break
		}
		shown[victim] = false
		total -= widths[victim] + 2
	}
	var kept []int
	for i := range columns {
		if shown[i] {
			kept = append(kept, i)
		}
	}
	return kept
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
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
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
