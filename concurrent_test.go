package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// crowd is how many runs of one circuit are started at once.
const crowd = 50

// fleet is a store of its own for runs that are started by a Go test.
type fleet struct {
	*testing.T
	dir   string
	store string // where its circuits live
}

func newFleet(t *testing.T) fleet {
	t.Helper()
	dir := t.TempDir()
	return fleet{t, dir, filepath.Join(dir, "store")}
}

func (f fleet) path(name string) string { return filepath.Join(f.dir, name) }

// cb returns a command that has not been started.
func (f fleet) cb(args ...string) *exec.Cmd {
	c := exec.Command("cb", args...)
	c.Dir = f.dir
	c.Env = append(os.Environ(), "CB_STORE="+f.store, "XDG_CONFIG_HOME="+f.path("config"))
	return c
}

// shell returns a shell command that calls cb and has not been started.
func (f fleet) shell(line string) *exec.Cmd {
	c := f.cb()
	shell := exec.Command("sh", "-c", line)
	shell.Dir, shell.Env = c.Dir, c.Env
	return shell
}

// ended is how a run ended.
type ended struct {
	code   int
	stderr string
}

// all runs the same command line many times at once; hold is called while
// they run.
func (f fleet) all(n int, hold func(ends <-chan ended), args ...string) []ended {
	f.Helper()
	ends := make(chan ended, n)
	all := make([]ended, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			var stderr bytes.Buffer
			c := f.cb(args...)
			c.Stderr = &stderr
			_ = c.Run() // the exit code is looked at
			all[i] = ended{c.ProcessState.ExitCode(), stderr.String()}
			ends <- all[i]
		})
	}
	hold(ends)
	group.Wait()
	return all
}

// status returns a circuit's documented JSON.
func (f fleet) status(name string) (status struct {
	State  string
	Totals struct{ Runs, Successes, Failures, Late, Refused, Trips int }
},
) {
	f.Helper()
	out, err := f.cb("status", name, "--json").Output()
	if err != nil {
		f.Fatal(err)
	}
	list := []any{&status}
	if err := json.Unmarshal(out, &list); err != nil {
		f.Fatal(err)
	}
	return status
}

// eventually waits for a condition.
func (f fleet) eventually(what string, holds func() bool) {
	f.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.Fatalf("waited in vain: %s", what)
		}
	}
}

func (f fleet) lines(name string) int {
	text, err := os.ReadFile(f.path(name))
	if err != nil && !os.IsNotExist(err) {
		f.Fatal(err)
	}
	return bytes.Count(text, []byte("\n"))
}

func (f fleet) create(name string) {
	if err := os.WriteFile(f.path(name), nil, 0o600); err != nil {
		f.Fatal(err)
	}
}

// untilGo is a shell command that notes its start and waits to be let go.
const untilGo = "echo started >>started; while [ -e started ] && [ ! -e go ]; do sleep 0.01; done; "

func TestOneProbeOfMany(t *testing.T) { newFleet(t).oneProbeOf(crowd) }

// oneProbeOf lets a crowd meet a circuit whose open period is over.
func (f fleet) oneProbeOf(crowd int) {
	f.Helper()
	_ = f.cb("run", "--name", "api", "--threshold", "1", "--timeout", "1ms", "false").Run()
	f.eventually("the period ends", func() bool { return f.cb("check", "api").Run() == nil })
	ends := f.all(crowd, func(ends <-chan ended) {
		enough := time.After(2 * time.Minute)
		for range crowd - 1 { // all but the probe
			select {
			case <-ends:
			case <-enough:
				f.Error("more than one command runs")
				f.create("go")
				return
			}
		}
		f.create("go")
	}, "run", "--name", "api", "-c", untilGo)
	if n := f.lines("started"); n != 1 {
		f.Errorf("%d commands ran, want 1", n)
	}
	count := map[int]int{}
	for _, end := range ends {
		count[end.code]++
	}
	if count[0] != 1 || count[75] != crowd-1 {
		f.Errorf("exit codes %v, want one 0 and %d times 75", count, crowd-1)
	}
	if s := f.status("api"); s.State != "closed" || s.Totals.Refused != crowd-1 {
		f.Errorf("afterwards %+v", s)
	}
}

func TestOneTripOfManyFailures(t *testing.T) { newFleet(t).oneTripOf(crowd) }

// oneTripOf lets a crowd fail together. It waits at a pipe, not in a loop,
// because that takes no processor.
func (f fleet) oneTripOf(crowd int) {
	f.Helper()
	if err := exec.Command("mkfifo", f.path("gate")).Run(); err != nil {
		f.Fatal(err)
	}
	gate, err := os.OpenFile(f.path("gate"), os.O_RDWR, 0)
	if err != nil {
		f.Fatal(err)
	}
	defer gate.Close()
	ends := f.all(crowd, func(<-chan ended) {
		f.eventually("all have started", func() bool { return f.lines("started") == crowd })
		if _, err := gate.WriteString(strings.Repeat("\n", crowd)); err != nil {
			f.Error(err)
		}
	}, "run", "--name", "api", "-c", "echo started >>started; read go <gate; exit 1")
	opened := 0
	for _, end := range ends {
		opened += strings.Count(end.stderr, "opened")
		if end.code != 1 {
			f.Errorf("exit code %d, want the command's own", end.code)
		}
	}
	s := f.status("api")
	if opened != 1 || s.Totals.Trips != 1 || s.State != "open" {
		f.Errorf("%d lines and %d trips, state %s; want one of each, open", opened, s.Totals.Trips, s.State)
	}
	if s.Totals.Failures != 3 || s.Totals.Late != crowd-3 {
		f.Errorf("%d failures and %d late results, want 3 and %d", s.Totals.Failures, s.Totals.Late, crowd-3)
	}
}

func TestLookingChangesNothing(t *testing.T) {
	f := newFleet(t)
	for range 3 {
		_ = f.cb("run", "--name", "api", "false").Run()
	}
	before, err := os.ReadFile(f.path("store/api.json"))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		for _, args := range [][]string{{"status"}, {"status", "api", "--json"}, {"check", "-q", "api"}, {"history", "api"}} {
			_ = f.cb(args...).Run()
		}
	}
	after, err := os.ReadFile(f.path("store/api.json"))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the state file changed (%v):\n%s\n%s", err, before, after)
	}
}
