package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cb/internal/breaker"
	"cb/internal/store"
)

// scene is a command line on a store that has been prepared, to be disturbed.
type scene struct {
	name    string
	setup   [][]string // command lines, and "clock DURATION", that make the store
	shared  bool       // the store is a directory for a group
	damaged bool       // the document is
	args    []string
	code    int // how it ends undisturbed
	// without is how it may end, with a warning or an error, when the store
	// could not be used.
	without int
}

// inCircuit is a command line that runs a shell command in the one circuit.
func inCircuit(shell string, flags ...string) []string {
	return slices.Concat([]string{"run", "--name", "api"}, flags, []string{"-c", shell})
}

// files are flags for files beside the store.
func files() []string {
	return []string{"--result-file", "state/result", "--metrics-file", "state/metrics"}
}

func scenes() []scene {
	fails, works := inCircuit("exit 3"), inCircuit("true")
	open := [][]string{fails, fails, fails}
	due := slices.Concat(open, [][]string{{"clock", "1h"}})
	lost := slices.Concat(due, [][]string{inCircuit("kill -9 $PPID")})
	return []scene{
		{name: "first run", args: fails, code: 3, without: 3},
		{name: "failure", setup: open[:1], args: fails, code: 3, without: 3},
		{name: "success", setup: open[:1], args: works},
		{name: "trip by a run", setup: open[:2], args: fails, code: 3, without: 3},
		{name: "first refusal", setup: open, args: fails, code: 75, without: 3},
		{name: "second refusal", setup: slices.Concat(open, open[:1]), args: fails, code: 75, without: 3},
		{name: "probe that closes", setup: due, args: works},
		{name: "probe that fails", setup: due, args: fails, code: 3, without: 3},
		{name: "lost probe", setup: slices.Concat(lost, [][]string{{"clock", "1h"}}), args: works},
		{name: "lost probe, still open", setup: lost, args: fails, code: 75, without: 3},
		{name: "shared store", setup: due, shared: true, args: works},
		{name: "first run in a shared store", shared: true, args: fails, code: 3, without: 3},
		{name: "damaged circuit", setup: open, damaged: true, args: fails, code: 3, without: 3},
		{name: "kept output", args: inCircuit("echo hello", "--fallback-cached")},
		{name: "files", args: inCircuit("exit 3", files()...), code: 3, without: 3},
		{name: "must record", setup: open[:1], args: inCircuit("exit 3", "--on-store-error", "refuse"), code: 3, without: 125},
		{name: "reset", setup: open, args: []string{"reset", "api"}, without: 125},
		{name: "trip", setup: [][]string{works}, args: []string{"trip", "api", "--for", "1m"}, without: 125},
		{name: "hold", setup: open, args: []string{"hold", "api", "--for", "1m"}, without: 125},
		{name: "record", setup: open[:2], args: []string{"record", "api", "failure"}, without: 125},
		{name: "status", setup: open, args: []string{"status"}, without: 125},
		{name: "status of one", setup: open, args: []string{"status", "api"}, without: 125},
		{name: "check", setup: open, args: []string{"check", "api"}, code: 75},
		{name: "prune", setup: [][]string{works, {"clock", "2h"}}, args: []string{"prune", "--older-than", "1h"}, without: 125},
	}
}

// sketch is what of a circuit does not depend on chance.
type sketch struct {
	found                   bool
	shown, reason           string
	streak, reopens, probes int
	totals                  breaker.Totals
}

// stage is a directory of its own with a store in state/cb and a fake clock.
type stage struct{ fleet }

func newStage(t *testing.T) stage {
	t.Helper()
	dir := t.TempDir()
	return stage{fleet{t, dir, filepath.Join(dir, "state", "cb")}}
}

func (s stage) cb(args ...string) *exec.Cmd {
	c := s.fleet.cb(args...)
	for i, arg := range c.Args {
		if strings.HasPrefix(arg, "state/") {
			c.Args[i] = s.path(arg)
		}
	}
	c.Env = append(c.Env, clockFile+"="+s.path("clock"), "TZ=UTC")
	return c
}

// act runs a command line undisturbed.
func (s stage) act(args ...string) ended {
	s.Helper()
	if args[0] == "clock" {
		by, err := time.ParseDuration(args[1])
		if err != nil {
			s.Fatal(err)
		}
		now := readClock(s.path("clock"))
		now.Wall, now.Boot = now.Wall.Add(by), now.Boot+by
		if err := writeClock(s.path("clock"), now); err != nil {
			s.Fatal(err)
		}
		return ended{}
	}
	var stderr bytes.Buffer
	c := s.cb(args...)
	c.Stderr = &stderr
	_ = c.Run() // the code is looked at
	return ended{c.ProcessState.ExitCode(), stderr.String()}
}

// reopened is the store as the library opens it, some time later.
func (s stage) reopened(later time.Duration) *store.Dir {
	return &store.Dir{Path: s.store, Clock: func() store.Reading {
		now := readClock(s.path("clock"))
		now.Wall, now.Boot = now.Wall.Add(later), now.Boot+later
		return now
	}}
}

// look reads the circuit as the library does.
func (s stage) look() (sketch, error) {
	c, _, found, err := s.reopened(0).Read("api")
	if err != nil || !found {
		return sketch{}, err
	}
	return sketch{found, c.Shown(), c.Reason, c.Streak, c.Reopens, len(c.Probes), c.Totals}, nil
}

// files are the names in the store.
func (s stage) files() []string {
	entries, err := os.ReadDir(s.store)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// forget prunes the store as cb prune would two days later.
func (s stage) forget() error {
	d := s.reopened(48 * time.Hour)
	if _, err := d.Remove(context.Background(), "api", func(breaker.Circuit, time.Time) bool { return true }); err != nil {
		return fmt.Errorf("remove: %w", err)
	}
	_, err := d.Sweep(time.Hour, false)
	return err
}

func (s stage) close() { os.RemoveAll(s.dir) }

// play is a scene with its store, and how it goes undisturbed.
type play struct {
	scene
	template      stage
	old, mid, new sketch // before; admitted but not recorded; afterwards
	stdout        string
}

// open returns a stage with a store of its own, as the scene wants it.
func (p *play) open(t *testing.T) stage {
	t.Helper()
	s := newStage(t)
	for _, part := range []string{"clock", "state"} {
		if out, err := exec.Command("cp", "-a", p.template.path(part), s.path(part)).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return s
}

// rehearse prepares a scene.
func rehearse(t *testing.T, of scene) *play {
	t.Helper()
	p := &play{scene: of, template: newStage(t)}
	s := p.template
	now := store.Reading{Wall: time.Now().UTC().Truncate(time.Second), BootID: "boot", Boot: time.Hour}
	err := errors.Join(writeClock(s.path("clock"), now), os.Mkdir(s.path("state"), 0o700))
	if of.shared {
		err = errors.Join(err, os.Mkdir(s.store, 0o700), os.Chmod(s.store, 0o770|os.ModeSetgid))
	}
	for _, args := range of.setup {
		s.act(args...)
	}
	if of.damaged {
		err = errors.Join(err, os.WriteFile(filepath.Join(s.store, "api.json"), []byte("{"), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	p.old, _ = s.look() // damaged ones are the zero one
	p.mid, p.new = p.old, p.old
	if last := len(of.args) - 1; of.args[0] == "run" {
		s := p.open(t)
		s.act(append(slices.Clone(of.args[:last]), "kill -9 $PPID")...)
		p.mid, _ = s.look()
	}
	s = p.open(t)
	var stdout strings.Builder
	c := s.cb(of.args...)
	c.Stdout = &stdout
	_ = c.Run() // the code is looked at
	p.new, err = s.look()
	if code := c.ProcessState.ExitCode(); code != of.code || err != nil {
		t.Fatalf("%s: undisturbed it ends with %d, %v", of.name, code, err)
	}
	p.stdout = stdout.String()
	return p
}
