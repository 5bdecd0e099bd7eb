package classify

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
)

// MaxCode returns the largest exit code that a command can have: 255, but on
// Windows what 32 bits hold, or an int where that is less.
func MaxCode() int {
	if runtime.GOOS == "windows" {
		return min(1<<32-1, math.MaxInt)
	}
	return 255
}

// Codes is a set of exit codes, written as a list of numbers and ranges:
// "1,3,64-78". The zero value is empty. It is a flag value; each Set adds.
type Codes []Range

// Range is the exit codes from First to Last, both included.
type Range struct{ First, Last int }

// Has reports whether the code is in the set.
func (c Codes) Has(code int) bool {
	for _, r := range c {
		if r.First <= code && code <= r.Last {
			return true
		}
	}
	return false
}

// Shared returns a code that is in both sets, and whether there is one.
func (c Codes) Shared(other Codes) (int, bool) {
	for _, a := range c {
		for _, b := range other {
			if first := max(a.First, b.First); first <= min(a.Last, b.Last) {
				return first, true
			}
		}
	}
	return 0, false
}

// String writes the set as Set reads it.
func (c Codes) String() string {
	words := make([]string, len(c))
	for i, r := range c {
		words[i] = strconv.Itoa(r.First)
		if r.Last > r.First {
			words[i] += "-" + strconv.Itoa(r.Last)
		}
	}
	return strings.Join(words, ",")
}

// Set adds a list of codes and ranges.
func (c *Codes) Set(text string) error {
	var more Codes
	for word := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(word), "-")
		if !isRange {
			last = first
		}
		r := Range{}
		var err error
		if r.First, err = parseCode(first); err == nil {
			r.Last, err = parseCode(last)
		}
		if errors.Is(err, errTooLarge) {
			return fmt.Errorf("exit codes are 0 to %d, not %q", MaxCode(), text)
		}
		if err != nil || r.Last < r.First {
			return fmt.Errorf("%q is not a list of exit codes such as 1,3,64-78", text)
		}
		more = append(more, r)
	}
	*c = append(*c, more...)
	return nil
}

// errTooLarge says that no command ends with such a code.
var errTooLarge = errors.New("no exit code is that large")

func parseCode(word string) (int, error) {
	code, err := strconv.ParseUint(word, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read exit code: %w", err)
	}
	if code > uint64(MaxCode()) {
		return 0, errTooLarge
	}
	return int(code), nil
}

// Type names the value in help.
func (c *Codes) Type() string { return "codes" }
