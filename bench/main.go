//go:build unix

// Command bench measures cb beside what people would use instead, pairwise in one run, and prints one table of ratios.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	rounds := flag.Int("rounds", 200, "pairs per line")
	dir := flag.String("dir", "", "where the stores lie (default: a temporary directory)")
	flag.Parse()
	if err := bench(*rounds, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// line is one line of the table.
type line struct {
	work, beside string
	must, aim    float64
	ours, theirs contender
}

func bench(rounds int, dir string) error {
	place, err := os.MkdirTemp(dir, "cb-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(place)
	lines, err := prepare(place)
	if err != nil {
		return err
	}
	fmt.Printf("%-14s %-22s %6s %6s %5s %5s %10s %10s %9s\n", "work", "beside", "ratio", "noise", "must", "aim", "cb", "other", "peak")
	for _, l := range lines {
		r, err := compare(l.ours, l.theirs, rounds)
		if err != nil {
			return err
		}
		fmt.Printf("%-14s %-22s %6.2f %5.0f%% %5.2f %5.2f %10s %10s %4.1f MiB\n", l.work, l.beside, r.ratio, r.noise*100, l.must, l.aim,
			r.ours.Round(10_000), r.theirs.Round(10_000), float64(r.ourPeak)/1024)
	}
	return nil
}

// prepare builds the programs, opens a circuit, and returns the lines.
func prepare(place string) ([]line, error) {
	at := func(name string) string { return filepath.Join(place, name) }
	for name, source := range map[string]string{"cb": ".", "minrun": "./bench/minrun", "minprint": "./bench/minprint"} {
		build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", at(name), source)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return nil, fmt.Errorf("build %s: %w", name, err)
		}
	}
	env := []string{"CB_STORE=" + at("store"), "BREAKER_DIR=" + place}
	breaker, err := filepath.Abs("bench/breaker.sh")
	if err != nil {
		return nil, err
	}
	cb := func(code int, args ...string) contender {
		return contender{append([]string{at("cb")}, args...), env, code}
	}
	hand := func(code int, name, command string) contender {
		return contender{[]string{breaker, name, "1", "3600", command}, env, code}
	}
	for _, c := range []contender{
		cb(1, "run", "--name", "open", "--threshold", "1", "--timeout", "1d", "false"), hand(1, "open", "false"),
	} {
		if _, _, err := c.run(); err != nil {
			return nil, err
		}
	}
	run, refusal := cb(0, "run", "--name", "x", "--", "true"), cb(75, "run", "--name", "open", "--", "true")
	return []line{
		{"closed run", "minimal Go program", 1.5, 1.25, run, contender{[]string{at("minrun"), "true"}, nil, 0}},
		{"closed run", "flock timeout true", 1.4, 1.1, run, contender{[]string{"flock", at("f"), "timeout", "60", "true"}, nil, 0}},
		{"refusal", "minimal Go program", 1.5, 1.2, refusal, contender{[]string{at("minprint")}, nil, 75}},
		{"closed run", "breaker by hand", 1. / 6, 1. / 9, run, hand(0, "x", "true")},
		{"refusal", "breaker by hand", 1. / 6, 1. / 9, refusal, hand(75, "open", "true")},
		{"start (floor)", "minimal Go program", 0, 0, cb(0, "--version"), contender{[]string{at("minprint")}, nil, 75}},
	}, nil
}
