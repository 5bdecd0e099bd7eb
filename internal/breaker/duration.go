package breaker

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// MinDuration is the shortest duration that a policy accepts: instants are
// kept in microseconds, and a period that no user can see is a mistake.
const MinDuration = time.Millisecond

// ErrTooLong is the error for a duration that does not fit into a
// time.Duration.
var ErrTooLong = errors.New("the longest duration is 106751d")

const day = 24 * time.Hour

// ParseDuration reads Go's durations and days: "90s", "1h30m", "2d", "1d12h".
// It returns an error for anything that is shorter than MinDuration, or that
// does not fit into a time.Duration (about 292 years).
func ParseDuration(text string) (time.Duration, error) {
	days, rest := int64(0), text
	if head, tail, ok := strings.Cut(text, "d"); ok {
		for _, r := range head {
			if r < '0' || r > '9' {
				return 0, errDuration(text)
			}
			days = min(days*10+int64(r-'0'), math.MaxInt64/int64(day)+1)
		}
		if head == "" {
			return 0, errDuration(text)
		}
		rest = tail
	}
	if days > math.MaxInt64/int64(day) {
		return 0, errTooLong(text)
	}
	total := time.Duration(days) * day
	if rest != "" {
		part, err := time.ParseDuration(rest)
		switch {
		case rest[0] == '-' || rest[0] == '+' || err != nil && !isLong(rest):
			return 0, errDuration(text)
		case err != nil || part > math.MaxInt64-total:
			return 0, errTooLong(text)
		}
		total += part
	} else if text == "" {
		return 0, errDuration(text)
	}
	if total < MinDuration {
		return 0, errors.New("must be 1ms or longer")
	}
	return total, nil
}

// isLong reports whether a text that time.ParseDuration does not take is only
// too long for it: with noughts for its digits it is a duration. A nought alone
// is one too.
func isLong(text string) bool {
	_, err := time.ParseDuration(strings.Map(func(r rune) rune {
		if '1' <= r && r <= '9' {
			return '0'
		}
		return r
	}, text))
	return err == nil && strings.ContainsAny(text[len(text)-1:], "smh")
}

func errTooLong(text string) error { return fmt.Errorf("%q is too long: %w", text, ErrTooLong) }

func errDuration(text string) error {
	return fmt.Errorf("%q is not a duration such as 90s, 1h30m or 2d", text)
}

// FormatDuration writes a duration as ParseDuration reads it, without the
// zeros of time.Duration's own text: "5m", not "5m0s"; "2d3h", not "51h0m0s".
func FormatDuration(d time.Duration) string {
	if d < 0 {
		return "-" + FormatDuration(-max(d, -math.MaxInt64))
	}
	var text strings.Builder
	if d >= day {
		fmt.Fprintf(&text, "%dd", d/day)
		d %= day
	}
	if d == 0 && text.Len() > 0 {
		return text.String()
	}
	rest := d.String()
	if strings.HasSuffix(rest, "m0s") {
		rest = strings.TrimSuffix(rest, "0s")
	}
	if strings.HasSuffix(rest, "h0m") {
		rest = strings.TrimSuffix(rest, "0m")
	}
	return text.String() + rest
}
