//go:build unix

// Command bench measures cb beside what people would use instead, pairwise in one run, and prints one table of ratios;
// or it counts the instructions of what cb does, which no neighbour disturbs, and compares them with a baseline.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"text/tabwriter"
)

func main() {
	rounds := flag.Int("rounds", 200, "pairs per line")
	dir := flag.String("dir", "", "where the stores lie (default: a temporary directory)")
	memory := flag.String("memory", "/dev/shm", "a directory in memory, for the line without the disk")
	count := flag.Bool("count", false, "count instructions instead, and compare with "+baselineFile)
	write := flag.Bool("write", false, "count, and write the baseline")
	flag.Parse()
	err := inWorkshop(*dir, *memory, func(shop *workshop) error {
		if *count || *write {
			return shop.count(*write)
		}
		return shop.measure(*rounds)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
	if err != nil && !errors.Is(err, errSkipped) {
		os.Exit(1)
	}
}

// inWorkshop makes places for the stores, and removes them.
func inWorkshop(dir, memory string, work func(*workshop) error) error {
	place, err := os.MkdirTemp(dir, "cb-bench-")
	if err != nil {
		return fmt.Errorf("make a place: %w", err)
	}
	defer os.RemoveAll(place)
	shop := &workshop{place: place}
	if shop.memory, err = os.MkdirTemp(memory, "cb-bench-"); err != nil {
		shop.memory = place // no such directory: the line says less
	} else {
		defer os.RemoveAll(shop.memory)
	}
	defer shop.close()
	return work(shop)
}

// measure prints the table of ratios.
func (w *workshop) measure(rounds int) error {
	lines, err := w.lines()
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "work\tbeside\tratio\tnoise\tmust\taim\tcb\tother")
	for _, l := range lines {
		r, err := compare(l.ours, l.theirs, max(3, rounds/l.dear))
		if err != nil {
			return fmt.Errorf("%s: %w", l.work, err)
		}
		fmt.Fprintf(table, "%s\t%s\t%.2f\t±%.0f%%\t%s\t%s\t%s\t%s\n", l.work, l.beside, r.ratio, r.noise*100, wanted(l.must), wanted(l.aim),
			r.ours.Round(10_000), r.theirs.Round(10_000))
	}
	if ours, theirs := w.peaks(); theirs > 0 {
		fmt.Fprintf(table, "peak memory of a run\tminimal Go program\t%.2f\t\t%.2f\t%.2f\t%.1f MiB\t%.1f MiB\n", float64(ours)/float64(theirs), 3., 2.,
			float64(ours)/1024, float64(theirs)/1024)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// wanted shows a ratio, and nothing for a line that has none.
func wanted(ratio float64) string {
	if ratio == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", ratio)
}
