// Command mutants breaks the source in one place at a time and checks that a
// test notices. A mutant that survives is a promise that no test keeps.
//
//	go run ./internal/mutants              all lists
//	go run ./internal/mutants breaker      one list
//	go run ./internal/mutants 'breaker/probe*'
//	go run ./internal/mutants -run TestModel breaker    by these tests alone
//
// The lists are testdata/mutants/*.txtar; their format is told by ReadList.
// The tree is never changed: go test -overlay reads the broken file in place
// of the true one.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
)

func main() {
	jobs := flag.Int("j", max(1, runtime.NumCPU()/2), "mutants that are tried at the same time")
	only := flag.String("run", "", "`REGEXP` of the tests that may kill; as of go test")
	flag.Parse()
	if err := run(os.Stdout, ".", *jobs, *only, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// run tries the mutants that the patterns select, all when there are none, and
// returns an error unless each of them is killed.
func run(out io.Writer, root string, jobs int, only string, patterns []string) error {
	mutants, err := ReadLists(root)
	if err != nil {
		return err
	}
	mutants = selected(mutants, patterns)
	if len(mutants) == 0 {
		return fmt.Errorf("no mutant matches %q", patterns)
	}
	if only != "" {
		for i := range mutants {
			mutants[i].Test = append([]string{"-run=" + only}, mutants[i].Test...)
		}
	}
	if err := untouched(root, mutants); err != nil {
		return err
	}
	results := start(root, jobs, mutants)
	alive := 0
	for i, m := range mutants {
		switch r := <-results[i]; {
		case r.err != nil:
			alive++
			fmt.Fprintf(out, "UNTRIED  %s: %v\n", m.Name, r.err)
		case len(r.killers) == 0:
			alive++
			fmt.Fprintf(out, "SURVIVED %s: %s\n", m.Name, m.Meaning)
		default:
			fmt.Fprintf(out, "killed   %s: %s\n         by %s\n", m.Name, m.Meaning, some(r.killers))
		}
	}
	if alive > 0 {
		return fmt.Errorf("%d of %d mutants are not killed", alive, len(mutants))
	}
	fmt.Fprintf(out, "all %d mutants are killed\n", len(mutants))
	return nil
}

// some returns the first of the tests, and how many more there are.
func some(tests []string) string {
	const most = 4
	if len(tests) <= most {
		return strings.Join(tests, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(tests[:most], ", "), len(tests)-most)
}

// selected returns the mutants whose name, or whose list, matches a pattern.
func selected(mutants []Mutant, patterns []string) []Mutant {
	if len(patterns) == 0 {
		return mutants
	}
	var found []Mutant
	for _, m := range mutants {
		for _, pattern := range patterns {
			byName, _ := path.Match(pattern, m.Name)
			byList, _ := path.Match(pattern, path.Dir(m.Name))
			if byName || byList {
				found = append(found, m)
				break
			}
		}
	}
	return found
}

// untouched runs the tests without a mutant: tests that fail anyway would kill
// every one.
func untouched(root string, mutants []Mutant) error {
	passed := map[string]bool{}
	for _, m := range mutants {
		if command := strings.Join(m.Test, " "); !passed[command] {
			if output, err := goTest(root, m.Test); err != nil {
				return fmt.Errorf("%s fails without a mutant: %w\n%s", command, err, output)
			}
			passed[command] = true
		}
	}
	return nil
}

// result is what has killed a mutant, or why that cannot be told.
type result struct {
	killers []string
	err     error
}

// start tries the mutants in their order, so many at a time, and returns where
// the result of each will be.
func start(root string, jobs int, mutants []Mutant) []chan result {
	results := make([]chan result, len(mutants))
	for i := range results {
		results[i] = make(chan result, 1)
	}
	var next atomic.Int64
	for range jobs {
		go func() {
			for i := next.Add(1) - 1; int(i) < len(mutants); i = next.Add(1) - 1 {
				killers, err := try(root, mutants[i])
				results[i] <- result{killers, err}
			}
		}()
	}
	return results
}

// try returns the tests that fail because of a mutant.
func try(root string, m Mutant) ([]string, error) {
	broken, err := m.Apply(root)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	source, err := filepath.Abs(filepath.Join(root, m.File))
	if err != nil {
		return nil, err
	}
	replaced, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{source: replaced}})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.WriteFile(replaced, broken, 0o600), os.WriteFile(overlay, list, 0o600)); err != nil {
		return nil, err
	}
	output, err := goTest(root, m.Test, "-overlay="+overlay)
	return verdict(output, err)
}

// goTest runs a test command, with flags.
func goTest(root string, command []string, flags ...string) (string, error) {
	args := append([]string{"test", "-vet=off", "-timeout=5m"}, flags...)
	cmd := exec.Command("go", append(args, command...)...)
	cmd.Dir = root
	output, err := cmd.CombinedOutput()
	return string(output), err
}

// verdict reads from the output of go test what has killed a mutant.
func verdict(output string, err error) ([]string, error) {
	var ended *exec.ExitError
	switch {
	case err == nil:
		return nil, nil
	case !errors.As(err, &ended):
		return nil, err
	case strings.Contains(output, "[build failed]") || strings.Contains(output, "[setup failed]"):
		return nil, fmt.Errorf("it does not compile:\n%s", output)
	}
	var killers []string
	for _, match := range regexp.MustCompile(`(?m)^--- FAIL: (\w+)`).FindAllStringSubmatch(output, -1) {
		killers = append(killers, match[1])
	}
	if cause := regexp.MustCompile(`(?m)^(panic: .*|fatal error: .*)$`).FindString(output); cause != "" {
		killers = append(killers, cause)
	}
	if killers == nil {
		return nil, fmt.Errorf("no test tells why it failed:\n%s", output)
	}
	return killers, nil
}
