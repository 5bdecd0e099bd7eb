// Package render turns circuits into text and JSON.
package render

import (
	"time"

	"cb/internal/breaker"
)

const day = 24 * time.Hour

// Span writes a duration for people, rounded to what matters at its size:
// "27s", "1m30s", "12m", "2h5m", "3d4h". It is rounded up, and so never zero before it is over.
func Span(d time.Duration) string {
	unit := time.Second
	switch {
	case d >= day:
		unit = time.Hour
	case d >= 10*time.Minute:
		unit = time.Minute
	}
	if d <= 0 {
		return "0s"
	}
	return breaker.FormatDuration((d + unit - 1).Truncate(unit))
}

// exact writes a latency with two or three digits.
func exact(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(10 * time.Millisecond).String()
	}
	return breaker.FormatDuration(d.Round(time.Second))
}

// Clock writes an instant as the local time of day, with the date when it is
// not the day of now.
func Clock(at, now time.Time) string {
	at, now = at.Local(), now.Local()
	if at.Year() == now.Year() && at.YearDay() == now.YearDay() {
		return at.Format(time.TimeOnly)
	}
	return at.Format(time.DateTime)
}
