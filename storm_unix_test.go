//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// storm is many runs at once that are killed at random moments.
type storm struct {
	fleet
	seen *os.File // what happens, in its order: commands and killers append to it
	end  time.Time

	mu    sync.Mutex
	count map[string]map[string]int // of each circuit: how its runs ended
	next  int
}

// TestKillStorm kills cb at random for a while. Nothing is ever stuck, no two
// probes run at a time, no outcome whose run came back is lost, no circuit is
// damaged, and cb prune removes what is left.
func TestKillStorm(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	f := newFleet(t)
	seen, err := os.OpenFile(f.path("seen"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer seen.Close()
	span := time.Duration(size(2, 5, 60)) * time.Second
	s := &storm{fleet: f, seen: seen, end: time.Now().Add(span), count: map[string]map[string]int{"runs": {}, "mixed": {}}}
	var group sync.WaitGroup
	for range size(8, 12, 24) {
		group.Go(func() {
			for time.Now().Before(s.end) {
				s.one("runs", []string{"run"})
				if rand.N(4) == 0 {
					s.one("mixed", [][]string{{"run"}, {"reset"}, {"trip", "--for", "1ms"}, {"hold", "--for", "1ms"}, {"enable"}, {"acquire", "--probe-limit", "1ms", "--timeout", "1ms"}}[rand.N(6)])
				}
			}
		})
	}
	group.Wait()
	t.Logf("%d runs: %v", s.next, s.count)
	s.oneProbeAtATime()
	for _, name := range []string{"runs", "mixed"} {
		s.nothingLost(name)
		s.worksAgain(name)
	}
	s.prunes()
}

// one starts a command of cb on a circuit, kills it perhaps, and counts how it
// ended.
func (s *storm) one(name string, command []string) {
	s.mu.Lock()
	s.next++
	me := strconv.Itoa(s.next)
	s.mu.Unlock()
	args := slices.Concat(command, []string{name})
	if command[0] == "run" {
		args = []string{"run", "--name", name, "--threshold", "2", "--timeout", "1ms", "-c", fmt.Sprintf(
			"echo start %s %s $CIRCUIT_PROBE >>seen; %s; echo end %s >>seen; exit %d", me, name,
			[]string{":", "sleep 0.01"}[rand.N(2)], me, rand.N(2))}
	}
	var stderr bytes.Buffer
	c := s.cb(args...)
	c.Stderr = &stderr
	c.WaitDelay = patience
	if err := c.Start(); err != nil {
		s.Error(err)
		return
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait() // its code is looked at
		close(ended)
	}()
	s.killPerhaps(c, me, ended)
	select {
	case <-ended:
	case <-time.After(patience):
		_ = c.Process.Kill()
		s.Errorf("%q is stuck", args)
		return
	}
	code := "killed"
	if status := c.ProcessState.Sys().(syscall.WaitStatus); status.Exited() {
		code = strconv.Itoa(status.ExitStatus())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count[name][command[0]+" "+code]++
	if strings.Contains(stderr.String(), "warning") || code == "125" {
		s.Errorf("%q ended with %s: %s", args, code, stderr.String())
	}
}

// killPerhaps kills half of all, at a random moment of their life.
func (s *storm) killPerhaps(c *exec.Cmd, me string, ended <-chan struct{}) {
	if rand.N(2) == 0 {
		return
	}
	select {
	case <-ended:
	case <-time.After(rand.N(60 * time.Millisecond)):
		fmt.Fprintf(s.seen, "kill %s\n", me)
		_ = c.Process.Kill()
	}
}

// oneProbeAtATime looks for a probe that began while another one's cb lived. On
// the other circuit a reset may well begin anew while a probe runs.
func (s *storm) oneProbeAtATime() {
	text, err := os.ReadFile(s.seen.Name())
	if err != nil {
		s.Fatal(err)
	}
	over, running, probes := map[string]bool{}, "", 0
	for line := range strings.Lines(string(text)) {
		word := strings.Fields(line)
		switch {
		case word[0] != "start":
			over[word[1]] = true
		case len(word) == 4 && word[2] == "runs" && !over[word[1]]:
			probes++
			if running != "" && !over[running] {
				s.Errorf("the probe %s began while the probe %s was running", word[1], running)
			}
			running = word[1]
		}
	}
	if probes == 0 {
		s.Error("no probe at all")
	}
}

// nothingLost compares what the circuit has counted with how its runs ended:
// each that came back is in it once, each that was killed at most once.
func (s *storm) nothingLost(name string) {
	s.Helper()
	totals := s.status(name).Totals
	ended := s.count[name]
	ran, refused, killed := ended["run 0"]+ended["run 1"], ended["run 75"]+ended["acquire 75"], ended["run killed"]+ended["acquire killed"]
	if totals.Runs < ran || totals.Runs > ran+killed {
		s.Errorf("%s: %d runs are counted; %d came back and %d were killed", name, totals.Runs, ran, killed)
	}
	if totals.Refused < refused || totals.Refused > refused+killed {
		s.Errorf("%s: %d refusals are counted; %d came back and %d were killed", name, totals.Refused, refused, killed)
	}
}

// worksAgain wants the very next run to be let through and to close.
func (s *storm) worksAgain(name string) {
	s.Helper()
	out, err := s.cb("run", "--name", name, "--", "echo", "hello").CombinedOutput()
	if s.status(name).State != "closed" || err != nil || !strings.Contains(string(out), "hello") {
		s.Errorf("the next run of %s: %v\n%s", name, err, out)
	}
}

// prunes wants bounded leftovers, and none after cb prune.
func (s *storm) prunes() {
	left, err := os.ReadDir(s.path("store"))
	if err != nil || len(left) > 10 {
		s.Errorf("%d files are left: %v, %v", len(left), left, err)
	}
	if out, err := s.cb("prune", "--older-than", "1ms").CombinedOutput(); err != nil {
		s.Errorf("cb prune: %v\n%s", err, out)
	}
	if left, err := os.ReadDir(s.path("store")); err != nil || len(left) > 0 {
		s.Errorf("cb prune leaves %v, %v", left, err)
	}
}
