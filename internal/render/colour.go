package render

import (
	"strings"

	"cb/internal/breaker"
)

// The colours that every terminal has, so that its user's palette decides.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	blue   = "34"
	faint  = "2"
)

func paint(colour, text string) string { return "\x1b[" + colour + "m" + text + "\x1b[0m" }

func stateColour(c breaker.Circuit) string {
	switch {
	case c.Override.Kind != breaker.NoOverride:
		return blue
	case c.State == breaker.Open:
		return red
	case c.State == breaker.HalfOpen:
		return yellow
	}
	return green
}

func paintStrip(text string) string {
	text = strings.ReplaceAll(text, "✓", paint(green, "✓"))
	text = strings.ReplaceAll(text, "◷", paint(yellow, "◷"))
	return strings.ReplaceAll(text, "✗", paint(red, "✗"))
}
