// Package render turns circuits into text and JSON.
package render

import (
	"time"

	"cb/internal/breaker"
)

const day = 24 * time.Hour

// Span writes a duration for people, rounded to what matters at its size:
// "0.4s", "27s", "12m", "2h5m", "3d4h". It is never rounded down to zero.
func Span(d time.Duration) string {
	unit := time.Second
	switch {
	case d < time.Second:
		unit = 100 * time.Millisecond
	case d >= day:
		unit = time.Hour
	case d >= time.Hour:
		unit = time.Minute
	}
	if d <= 0 {
		return "0s"
	}
	return breaker.FormatDuration(max(unit, (d + unit - 1).Truncate(unit)))
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
