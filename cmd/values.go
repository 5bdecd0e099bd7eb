package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cb/internal/breaker"
)

// The values that flags, environment twins and configuration share. Each says
// in one clause what it wants when it is given something else.

// count is a whole number within bounds.
type count struct {
	n           *int
	least, most int
}

func (v count) Type() string { return "N" }

func (v count) String() string {
	if *v.n < v.least {
		return "" // off
	}
	return strconv.Itoa(*v.n)
}

func (v count) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < v.least || n > v.most {
		return fmt.Errorf("must be %d to %d, not %q", v.least, v.most, text)
	}
	*v.n = n
	return nil
}

// duration is a time.Duration with days; zero means that it was not given.
type duration struct{ d *time.Duration }

func (v duration) Type() string { return "D" }

func (v duration) String() string {
	if *v.d == 0 {
		return ""
	}
	return breaker.FormatDuration(*v.d)
}

func (v duration) Set(text string) error {
	d, err := breaker.ParseDuration(text)
	if err != nil {
		return err //nolint:wrapcheck // the flag package adds the flag and the text
	}
	*v.d = d
	return nil
}

// factor is a multiplier, 1 or more.
type factor struct{ f *float64 }

func (v factor) Type() string   { return "F" }
func (v factor) String() string { return strconv.FormatFloat(*v.f, 'g', -1, 64) }

func (v factor) Set(text string) error {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= 1 && f <= 1000) {
		return fmt.Errorf("must be 1 to 1000, not %q", text)
	}
	*v.f = f
	return nil
}

// window is a number of outcomes or a duration.
type window struct{ p *breaker.Policy }

func (v window) Type() string { return "N|D" }

func (v window) String() string {
	if v.p.WindowCalls > 0 {
		return strconv.Itoa(v.p.WindowCalls)
	}
	return duration{&v.p.WindowSpan}.String()
}

func (v window) Set(text string) error {
	if n, err := strconv.Atoi(text); err == nil {
		if n < 1 || n > breaker.MaxOutcomes {
			return fmt.Errorf("must be 1 to %d outcomes, or a duration such as 10m, not %q", breaker.MaxOutcomes, text)
		}
		v.p.WindowCalls, v.p.WindowSpan = n, 0
		return nil
	}
	d, err := breaker.ParseDuration(text)
	if errors.Is(err, breaker.ErrTooLong) {
		return err //nolint:wrapcheck // the flag package adds the flag and the text
	}
	if err != nil {
		return fmt.Errorf("must be a number of outcomes or a duration such as 10m, not %q", text)
	}
	v.p.WindowCalls, v.p.WindowSpan = 0, d
	return nil
}

// ratio is M or M/N.
type ratio struct{ p *breaker.Policy }

func (v ratio) Type() string { return "M|M/N" }

func (v ratio) String() string {
	if v.p.Answers > 0 {
		return fmt.Sprintf("%d/%d", v.p.Successes, v.p.Answers)
	}
	return strconv.Itoa(v.p.Successes)
}

func (v ratio) Set(text string) error {
	m, n, isRatio := strings.Cut(text, "/")
	successes, err := strconv.Atoi(m)
	answers := 0
	if err == nil && isRatio {
		answers, err = strconv.Atoi(n)
	}
	if err != nil || successes < 1 || successes > breaker.MaxOutcomes ||
		isRatio && (answers < successes || answers > breaker.MaxOutcomes) {
		return fmt.Errorf("must be a number of successes such as 2, or successes of probes such as 2/3, not %q", text)
	}
	v.p.Successes, v.p.Answers = successes, answers
	return nil
}

// choice is one of some words.
type choice struct {
	word  *string
	words []string
}

func (v choice) Type() string   { return strings.Join(v.words, "|") }
func (v choice) String() string { return *v.word }

func (v choice) Set(text string) error {
	if !slices.Contains(v.words, text) {
		return fmt.Errorf("must be %s, not %q", strings.Join(v.words, " or "), text)
	}
	*v.word = text
	return nil
}

// line is a text that must not be empty.
type line struct{ text *string }

func (v line) Type() string   { return "TEXT" }
func (v line) String() string { return *v.text }

func (v line) Set(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("must not be empty")
	}
	*v.text = text
	return nil
}

// lines are texts that a repeated flag collects; none may be empty.
type lines []string

func (v *lines) Type() string   { return "TEXT" }
func (v *lines) String() string { return strings.Join(*v, "; ") }

func (v *lines) Set(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("must not be empty")
	}
	*v = append(*v, text)
	return nil
}

// size is a number of bytes: "4096", "512k", "1m".
type size int

const maxSize = 1 << 30

func (v *size) Type() string { return "SIZE" }

func (v *size) String() string {
	switch n := int(*v); {
	case n > 0 && n%(1<<20) == 0:
		return strconv.Itoa(n>>20) + "m"
	case n > 0 && n%(1<<10) == 0:
		return strconv.Itoa(n>>10) + "k"
	default:
		return strconv.Itoa(n)
	}
}

func (v *size) Set(text string) error {
	digits, unit := strings.ToLower(text), 1
	for suffix, bytes := range map[string]int{"k": 1 << 10, "m": 1 << 20} {
		if rest, ok := strings.CutSuffix(digits, suffix); ok {
			digits, unit = rest, bytes
			break
		}
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || n > maxSize/unit {
		return fmt.Errorf("must be a number of bytes such as 4096, 512k or 1m, at most 1024m, not %q", text)
	}
	*v = size(n * unit)
	return nil
}

// truth is a switch.
type truth bool

func (v *truth) Type() string   { return "bool" }
func (v *truth) String() string { return strconv.FormatBool(bool(*v)) }

func (v *truth) Set(text string) error {
	b, err := strconv.ParseBool(text)
	if err != nil {
		return fmt.Errorf("must be true or false, not %q", text)
	}
	*v = truth(b)
	return nil
}

// verbosity is how often -q was given, or the number that stands for it.
type verbosity int

const maxQuiet = 2

func (v *verbosity) Type() string   { return "count" }
func (v *verbosity) String() string { return strconv.Itoa(int(*v)) }

func (v *verbosity) Set(text string) error {
	n, err := strconv.Atoi(text)
	switch {
	case text == "+1":
		*v = min(*v+1, maxQuiet)
		return nil
	case err != nil || n < 0 || n > maxQuiet:
		return fmt.Errorf("must be 0 to %d, not %q", maxQuiet, text)
	}
	*v = verbosity(n)
	return nil
}
