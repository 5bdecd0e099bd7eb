package cmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"cb/internal/store"
)

// BenchmarkStatus10000 lists ten thousand circuits with a history each; on two
// idle cores the table takes less than half a second.
func BenchmarkStatus10000(b *testing.B) {
	const circuits = 10_000
	dir := b.TempDir()
	nothing, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer nothing.Close()
	clock := store.SystemClock()
	seed := uint64(0)
	cb := func(args ...string) {
		Main(Env{
			Args: append(args, "--store", dir), Stdin: nothing, Stdout: nothing, Stderr: nothing,
			Clock:    func() store.Reading { return clock },
			Seed:     func() uint64 { seed++; return seed },
			Hostname: os.Hostname,
		})
	}
	for i := range 40 {
		cb("record", "circuit-00000", "--exit-code", strconv.Itoa(i%5%2))
		if i%10 == 9 {
			cb("trip", "circuit-00000")
			cb("reset", "circuit-00000")
		}
		clock.Wall, clock.Boot = clock.Wall.Add(time.Minute), clock.Boot+time.Minute
	}
	one, err := os.ReadFile(filepath.Join(dir, "circuit-00000.json"))
	if err != nil {
		b.Fatal(err)
	}
	for i := range circuits {
		name := fmt.Sprintf("circuit-%05d", i)
		file := filepath.Join(dir, name+".json")
		if err := os.WriteFile(file, bytes.Replace(one, []byte("circuit-00000"), []byte(name), 1), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for _, args := range [][]string{{"status"}, {"status", "circuit-0001*"}, {"status", "--json"}} {
		b.Run(fmt.Sprint(args), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				cb(args...)
			}
		})
	}
}
