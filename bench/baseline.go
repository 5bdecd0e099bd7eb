//go:build unix

package main

import (
	"errors"
	"fmt"
	"go/version"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
)

const (
	baselineFile = "bench/baseline.txt"
	limit        = 0.05 // how much dearer a work may become
)

// baseline is what the works took when it was written, and with which Go on
// what.
type baseline struct {
	version, platform string
	counts            map[string]int64
}

// newBaseline returns one to be filled here.
func newBaseline() baseline {
	return baseline{runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, map[string]int64{}}
}

func readBaseline() (baseline, error) {
	text, err := os.ReadFile(baselineFile)
	if err != nil {
		return baseline{}, fmt.Errorf("read the baseline: %w", err)
	}
	return parseBaseline(string(text))
}

// parseBaseline reads lines of a name and a count; the first has the version of
// Go and the platform.
func parseBaseline(text string) (baseline, error) {
	b := baseline{counts: map[string]int64{}}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		if len(words) < 2 {
			return b, fmt.Errorf("%s: %q is no name and count", baselineFile, line)
		}
		name, last := strings.Join(words[:len(words)-1], " "), words[len(words)-1]
		if b.version == "" {
			b.version, b.platform = name, last
			continue
		}
		n, err := strconv.ParseInt(last, 10, 64)
		if err != nil || n <= 0 {
			return b, fmt.Errorf("%s: %q is no count", baselineFile, last)
		}
		b.counts[name] = n
	}
	return b, nil
}

// write keeps b, in the order of the works.
func (b baseline) write(works []work) error {
	if err := os.WriteFile(baselineFile, []byte(b.format(works)), 0o644); err != nil {
		return fmt.Errorf("write the baseline: %w", err)
	}
	return nil
}

func (b baseline) format(works []work) string {
	var text strings.Builder
	fmt.Fprintf(&text, "# Instructions of one call, the least of %d. Made by: go run ./bench -write\n", patience)
	fmt.Fprintf(&text, "%s %s\n", b.version, b.platform)
	for _, k := range works {
		fmt.Fprintf(&text, "%-18s %9d\n", k.name, b.counts[k.name])
	}
	return text.String()
}

// fits tells whether counts made here can be compared with b.
func (b baseline) fits() error {
	here := newBaseline()
	if version.Lang(b.version) != version.Lang(here.version) || b.platform != here.platform {
		return fmt.Errorf("%w: the baseline is of %s on %s, this is %s on %s", errSkipped, b.version, b.platform, here.version, here.platform)
	}
	return nil
}

// dearer tells whether a work takes more than b allows.
func (b baseline) dearer(name string, n int64) bool {
	was := b.counts[name]
	return was > 0 && more(n, was) > limit
}

// check fails when a work takes more than b allows, and when b does not know
// it. When the minimal programs differ, it is not cb that has changed.
func (b baseline) check(is baseline, works []work) error {
	var faults []error
	for _, k := range works {
		was, n := b.counts[k.name], is.counts[k.name]
		switch {
		case was == 0:
			faults = append(faults, fmt.Errorf("%s: not in %s", k.name, baselineFile))
		case k.beside == "" && math.Abs(more(n, was)) > limit:
			return fmt.Errorf("%w: the %s, which is not cb, differs by %+.1f%%: another Go or processor", errSkipped, k.name, more(n, was)*100)
		case b.dearer(k.name, n):
			faults = append(faults, fmt.Errorf("%s: %d instructions, %+.1f%%", k.name, n, more(n, was)*100))
		}
	}
	if faults != nil {
		faults = append(faults, fmt.Errorf("more than %.0f%% above %s; what is worth it is kept with: go run ./bench -write", limit*100, baselineFile))
	}
	return errors.Join(faults...)
}

// more returns by which part n is more than was.
func more(n, was int64) float64 { return float64(n)/float64(was) - 1 }
