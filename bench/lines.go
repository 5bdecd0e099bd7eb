//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// settled is the number of runs after which the document of a circuit has its
// usual size.
const settled = 40

// workshop has the programs and stores to measure with.
type workshop struct {
	place, memory string
	server        *exec.Cmd // Redis; nil: none is installed
}

func (w *workshop) at(name string) string { return filepath.Join(w.place, name) }

func (w *workshop) close() {
	if w.server != nil {
		_ = w.server.Process.Kill()
		_ = w.server.Wait()
	}
}

// line is one line of the table.
type line struct {
	work, beside string
	must, aim    float64 // ratios; a line without them is there to explain others
	dear         int     // how many times fewer rounds it gets
	ours, theirs contender
}

// cb returns a call of cb on a store.
func (w *workshop) cb(store string, code int, args ...string) contender {
	return contender{append([]string{w.at("cb")}, args...), []string{"CB_STORE=" + store}, code}
}

// run returns a run of true through a circuit of a store.
func (w *workshop) run(store, name string) contender {
	return w.cb(store, 0, "run", "--name", name, "--", "true")
}

// opening opens the circuit of which refusal is one.
func (w *workshop) opening(store string) contender {
	return w.cb(store, 1, "run", "--name", "open", "--threshold", "1", "--timeout", "1d", "false")
}

func (w *workshop) refusal(store string) contender {
	return w.cb(store, 75, "run", "--name", "open", "--", "true")
}

// lines builds the programs, fills the stores, and returns the table to be
// measured.
func (w *workshop) lines() ([]line, error) {
	if err := w.build(); err != nil {
		return nil, err
	}
	breaker, err := filepath.Abs("bench/breaker.sh")
	if err != nil {
		return nil, fmt.Errorf("find the breaker by hand: %w", err)
	}
	hand := func(code int, name, command string) contender {
		return contender{[]string{breaker, name, "1", "3600", command}, []string{"BREAKER_DIR=" + w.place}, code}
	}
	store := w.at("store")
	if err := runAll([]contender{w.opening(store), hand(1, "open", "false")}); err != nil {
		return nil, err
	}
	minimal := contender{[]string{w.at("minrun"), "true"}, nil, 0}
	answer := contender{[]string{w.at("minprint")}, nil, 75}
	refusal := w.refusal(store)
	lines := []line{
		{"closed run", "minimal Go program", 1.5, 1.25, 1, w.run(store, "x"), minimal},
		{"closed run, no disk", "minimal Go program", 1.5, 1.25, 1, w.run(w.memory, "x"), minimal},
		{"closed run", "flock f timeout 60 true", 1.4, 1.1, 1, w.run(store, "x"), contender{[]string{"flock", w.at("f"), "timeout", "60", "true"}, nil, 0}},
		{"refusal", "minimal Go program", 1.5, 1.2, 1, refusal, answer},
		{"closed run", "breaker by hand", 1. / 6, 1. / 9, 2, w.run(store, "x"), hand(0, "x", "true")},
		{"refusal", "breaker by hand", 1. / 6, 1. / 9, 2, refusal, hand(75, "open", "true")},
		{"start of cb", "minimal Go program", 0, 0, 1, w.cb(store, 0, "check", "--help"), answer},
	}
	for _, more := range []func() ([]line, error){w.minimumLines, w.serverLines, w.crowdLines, w.sizeLines, w.statusLines} {
		added, err := more()
		if err != nil {
			return nil, err
		}
		lines = append(lines, added...)
	}
	return lines, nil
}

// build makes cb and the minimal programs.
func (w *workshop) build() error {
	for name, source := range map[string]string{"cb": ".", "minrun": "./bench/minrun", "minprint": "./bench/minprint"} {
		if err := w.install(name, source); err != nil {
			return err
		}
	}
	return nil
}

// install builds a program and copies it, as installing does: what the linker
// wrote lies in the page cache in smaller pieces, and starts up to a tenth
// slower.
func (w *workshop) install(name, source string) error {
	built := w.at(name + ".built")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", built, source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build %s: %w", name, err)
	}
	program, err := os.ReadFile(built)
	if err == nil {
		err = os.WriteFile(w.at(name), program, 0o755)
	}
	if err != nil {
		return fmt.Errorf("install %s: %w", name, err)
	}
	return nil
}

// minimumLines compare with what the system alone makes a run pay, told in C,
// where there is a compiler.
func (w *workshop) minimumLines() ([]line, error) {
	program, state := w.at("minimum"), w.at("minimum.json")
	if out, err := exec.Command("cc", "-O2", "-static", "-o", program, "bench/minimum/minimum.c").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "bench: the minimum in C cannot be built; its line is left out: %v\n%s", err, out)
		return nil, nil
	}
	store := w.at("store")
	if err := runAll(slices.Repeat([]contender{w.run(store, "x")}, settled)); err != nil {
		return nil, err
	}
	document, err := os.ReadFile(filepath.Join(store, "x.json"))
	if err == nil {
		err = os.WriteFile(state, document, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("copy a circuit: %w", err)
	}
	return []line{{"closed run", "C minimum", 0, 0, 1, w.run(store, "x"), contender{[]string{program, state, "true"}, nil, 0}}}, nil
}

// serverLines start a Redis server of their own, where one is installed.
func (w *workshop) serverLines() ([]line, error) {
	program, _ := exec.LookPath("redis-server")
	if program == "" {
		fmt.Fprintln(os.Stderr, "bench: no redis-server is installed; its line is left out")
		return nil, nil
	}
	socket := w.at("redis.sock")
	w.server = exec.Command(program, "--port", "0", "--unixsocket", socket, "--save", "", "--dir", w.place)
	if err := w.server.Start(); err != nil {
		w.server = nil
		return nil, fmt.Errorf("start redis-server: %w", err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil {
			break
		} else if time.Now().After(deadline) {
			return nil, fmt.Errorf("wait for redis-server: %w", err)
		}
	}
	return []line{{"run through Redis", "file store", 1.5, 1.2, 1, w.run("unix://"+socket, "x"), w.run(w.at("store"), "x")}}, nil
}

// crowdLines let 64 runs go at once.
func (w *workshop) crowdLines() ([]line, error) {
	const crowd = `for i in $(seq 64); do "$CB" run --name "$NAME" -- true & done; wait`
	together := contender{[]string{"bash", "-c", strings.ReplaceAll(crowd, "$NAME", "one")}, []string{"CB=" + w.at("cb"), "CB_STORE=" + w.at("crowd")}, 0}
	apart := contender{[]string{"bash", "-c", strings.ReplaceAll(crowd, "$NAME", "n$i")}, together.env, 0}
	return []line{{"64 runs, one circuit", "64 circuits", 1.5, 1.2, 10, together, apart}}, nil
}

// sizeLines look whether a run depends on what else is in the store, or in the
// circuit.
func (w *workshop) sizeLines() ([]line, error) {
	var lines []line
	for _, n := range []int{10, 1000, 100_000} {
		store := w.at(fmt.Sprintf("store-%d", n))
		if err := w.fill(store, n); err != nil {
			return nil, err
		}
		lines = append(lines, line{fmt.Sprintf("run among %d circuits", n), "alone", 1.05, 1, 2, w.run(store, "x"), w.run(w.at("store"), "x")})
	}
	full, err := w.fullWindow()
	if err != nil {
		return nil, err
	}
	return append(lines, line{"run, full window", "empty window", 1.2, 1.05, 2, full, w.run(w.at("store"), "x")}), nil
}

// fullWindow returns a run through a circuit with 1,000 outcomes. It is filled
// in memory: a file system remembers files that were just removed, and looks at
// each before it makes another.
func (w *workshop) fullWindow() (contender, error) {
	args := []string{"run", "--name", "x", "--window", "1000", "--threshold", "1000", "--", "true"}
	filled := filepath.Join(w.memory, "full")
	filling := []contender{w.cb(filled, 0, args...)}
	for range 1000 {
		filling = append(filling, w.cb(filled, 0, "record", "x", "success"))
	}
	if err := runAll(filling); err != nil {
		return contender{}, err
	}
	if err := os.CopyFS(w.at("full"), os.DirFS(filled)); err != nil {
		return contender{}, fmt.Errorf("copy the full window: %w", err)
	}
	return w.cb(w.at("full"), 0, args...), nil
}

// statusLines compare a look at 10,000 circuits with reading their files.
func (w *workshop) statusLines() ([]line, error) {
	store := w.at("store-10000")
	if err := w.fill(store, 10_000); err != nil {
		return nil, err
	}
	files := contender{[]string{"sh", "-c", `ls -l "$CB_STORE" && find "$CB_STORE" -name '*.json' -exec cat {} +`}, []string{"CB_STORE=" + store}, 0}
	return []line{{"status of 10,000", "ls -l and cat", 3, 1.5, 20, w.cb(store, 0, "status"), files}}, nil
}

// fill copies one circuit under many names.
func (w *workshop) fill(store string, n int) error {
	if err := runAll([]contender{w.run(store, "x"), w.run(store, "x"), w.run(store, "c")}); err != nil {
		return err
	}
	document, err := os.ReadFile(filepath.Join(store, "c.json"))
	if err != nil {
		return fmt.Errorf("read a circuit: %w", err)
	}
	for i := range n {
		name := fmt.Sprintf("c%06d", i)
		copied := strings.Replace(string(document), `"c"`, `"`+name+`"`, 1)
		if err := os.WriteFile(filepath.Join(store, name+".json"), []byte(copied), 0o600); err != nil {
			return fmt.Errorf("write a circuit: %w", err)
		}
	}
	return nil
}

// peaks returns the peak memory, in KiB, of a run and of the minimal program.
func (w *workshop) peaks() (ours, theirs int64) {
	run := w.run(w.at("store"), "x")
	return run.peak(w.at("cb"), "run", "--name", "x", "--"), run.peak(w.at("minrun"))
}

func runAll(calls []contender) error {
	for _, c := range calls {
		if _, err := c.run(); err != nil {
			return err
		}
	}
	return nil
}
