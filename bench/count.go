//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

const (
	repetitions = 6  // of each work
	patience    = 20 // of one that seems to have become dearer, and for a baseline
)

// errSkipped: instructions cannot be counted here, or the counts not compared.
var errSkipped = errors.New("instruction counts skipped")

// work is one line of the table of instruction counts.
type work struct {
	name, beside string // beside: the work to compare with; "": a minimal program, which knows nothing of cb
	call         contender
}

// count counts the instructions of every work, prints them beside the baseline,
// and fails when one has become dearer; or it writes the baseline.
func (w *workshop) count(write bool) error {
	old, err := readBaseline()
	if !write {
		if err == nil {
			err = old.fits()
		}
		if err != nil {
			return err
		}
	}
	valgrind, err := exec.LookPath("valgrind")
	if err != nil {
		if slices.Contains(strings.Fields(os.Getenv("CB_TEST_REQUIRE")), "valgrind") {
			return errors.New("valgrind is not installed, but CB_TEST_REQUIRE names it")
		}
		return fmt.Errorf("%w: valgrind is not installed", errSkipped)
	}
	works, err := w.works()
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	if err := delayTimers(); err != nil {
		return err
	}
	is := newBaseline()
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "work\tinstructions\tspread\tbeside\tratio\tbaseline\tchange")
	for _, k := range works {
		counts, err := w.repeat(valgrind, k.call, func(n int, least int64) bool {
			return n < repetitions || n < patience && (write || old.dearer(k.name, least))
		})
		if err != nil && k.beside == "" {
			return fmt.Errorf("%w: %w", errSkipped, err)
		} else if err != nil {
			return err
		}
		least, ratio, change := counts[0], "", ""
		is.counts[k.name] = least
		if beside := is.counts[k.beside]; beside > 0 {
			ratio = fmt.Sprintf("%.2f", float64(least)/float64(beside))
		}
		if was := old.counts[k.name]; was > 0 {
			change = fmt.Sprintf("%+.1f%%", more(least, was)*100)
		}
		fmt.Fprintf(table, "%s\t%d\t+%.1f%%\t%s\t%s\t%d\t%s\n", k.name, least, more(counts[len(counts)/2], least)*100, k.beside, ratio, old.counts[k.name], change)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	if write {
		return is.write(works)
	}
	return old.check(is, works)
}

// works builds the programs and fills the stores.
func (w *workshop) works() ([]work, error) {
	if err := w.build(); err != nil {
		return nil, err
	}
	full, err := w.fullWindow()
	if err != nil {
		return nil, err
	}
	store := w.at("store")
	if err := runAll(append(slices.Repeat([]contender{w.run(store, "x")}, settled), w.opening(store))); err != nil {
		return nil, err
	}
	const start, line = "minimal run", "minimal print"
	return []work{
		{start, "", contender{[]string{w.at("minrun"), "true"}, nil, 0}},
		{line, "", contender{[]string{w.at("minprint")}, nil, 75}},
		{"closed run", start, w.run(store, "x")},
		{"run, full window", "closed run", full},
		{"refusal", line, w.refusal(store)},
		{"status", line, w.cb(store, 0, "status", "x")},
		{"start of cb", line, w.cb(store, 0, "check", "--help")},
	}, nil
}

// repeat counts a call as long as it is told to, and returns the counts in
// order. The least of them is the one to keep: what disturbs a count, other
// threads of the runtime and where its heap happens to lie, only adds to it.
func (w *workshop) repeat(valgrind string, call contender, again func(n int, least int64) bool) ([]int64, error) {
	counts := []int64{}
	for len(counts) == 0 || again(len(counts), counts[0]) {
		n, err := w.instructions(valgrind, call)
		if err != nil {
			return nil, err
		}
		counts = append(counts, n)
		slices.Sort(counts)
	}
	return counts, nil
}

// instructions counts what one call does itself, outside the kernel. Its
// environment is always the same, because to read it counts; it has one
// processor, because what the runtime does to find work for a second is chance.
func (w *workshop) instructions(valgrind string, call contender) (int64, error) {
	log := w.at("valgrind.log")
	command := exec.Command(valgrind, append([]string{
		"--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", "--trace-children=no", "--log-file=" + log,
	}, call.args...)...)
	command.Env = append([]string{"PATH=/usr/bin:/bin", "HOME=" + w.place, "GOMAXPROCS=1"}, call.env...)
	err := command.Run()
	said, _ := os.ReadFile(log)
	n, counted := parseCount(string(said))
	if code := command.ProcessState.ExitCode(); !counted || code != call.code {
		return 0, fmt.Errorf("count %v: exit code %d, want %d (%v)\n%s", call.args, code, call.code, err, said)
	}
	return n, nil
}

// parseCount finds the count in what cachegrind says: "==1== I   refs:   1,371,612".
func parseCount(said string) (int64, bool) {
	found := regexp.MustCompile(`(?m)^==\d+== I +refs: +([\d,]+)$`).FindStringSubmatch(said)
	if found == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(found[1], ",", ""), 10, 64)
	return n, err == nil
}
