//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// contender is a program that is started again and again.
type contender struct {
	args []string
	env  []string // added to the environment
	code int      // exit code that it must end with
}

// result is what a pair of contenders took, each median over all rounds.
type result struct {
	ratio        float64 // median of the ratios of each pair
	noise        float64 // half the distance of the quartiles of those ratios, relative to ratio
	ours, theirs time.Duration
}

// compare runs the two in turn, A B A B …, so that a busy machine disturbs both alike.
func compare(ours, theirs contender, rounds int) (result, error) {
	var a, b []time.Duration
	var ratios []float64
	var r result
	for round := range rounds + rounds/20 {
		x, err := ours.run()
		if err != nil {
			return r, err
		}
		y, err := theirs.run()
		if err != nil {
			return r, err
		}
		if round < rounds/20 {
			continue // warm
		}
		a, b, ratios = append(a, x), append(b, y), append(ratios, float64(x)/float64(y))
	}
	for _, list := range [][]time.Duration{a, b} {
		slices.Sort(list)
	}
	slices.Sort(ratios)
	r.ours, r.theirs = a[len(a)/2], b[len(b)/2]
	r.ratio = float64(r.ours) / float64(r.theirs)
	r.noise = (ratios[len(ratios)*3/4] - ratios[len(ratios)/4]) / 2 / ratios[len(ratios)/2]
	return r, nil
}

// run starts the program, waits, and returns the wall time.
func (c contender) run() (time.Duration, error) {
	command := exec.Command(c.args[0], c.args[1:]...)
	command.Env = append(os.Environ(), c.env...)
	begin := time.Now()
	err := command.Run()
	took := time.Since(begin)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, fmt.Errorf("run %s: %w", c.args[0], err)
	}
	if code := command.ProcessState.ExitCode(); code != c.code {
		return 0, fmt.Errorf("run %v: exit code %d, want %d", c.args, code, c.code)
	}
	return took, nil
}

// peak returns the most memory, in KiB, that a wrapper has had when the command
// that it runs looks at it; 0 where there is no /proc. (What wait tells includes
// the memory of whoever started the wrapper.)
func (c contender) peak(wrapper ...string) int64 {
	look := []string{"sh", "-c", `sed -n "s/VmHWM:[^0-9]*\([0-9]*\).*/\1/p" /proc/$PPID/status`}
	command := exec.Command(wrapper[0], append(wrapper[1:], look...)...)
	command.Env = append(os.Environ(), c.env...)
	text, err := command.Output()
	if err != nil {
		return 0
	}
	kib, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return kib
}
