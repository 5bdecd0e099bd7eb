package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"cb/internal/redistest"
)

// large is how many runs of one circuit come from a fleet at once: all on two
// processors, which a real fleet are not.
func large() int { return size(60, 120, 500) }

// newServerFleet is newFleet with the circuits on a server.
func newServerFleet(t *testing.T, args ...string) (fleet, *redistest.Server) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes long")
	}
	server := redistest.Start(t, args...)
	t.Setenv("CB_STORE_LIMIT", "1m") // so many at once starve each other, not the server
	return fleet{t, t.TempDir(), server.URL()}, server
}

func TestFleetOneProbe(t *testing.T) {
	f, _ := newServerFleet(t)
	f.oneProbeOf(large())
}

func TestFleetOneTrip(t *testing.T) {
	f, _ := newServerFleet(t)
	f.oneTripOf(large())
}

// TestFleetOutage kills the server while a fleet is at work and starts it
// again. Every command's code stands, each run that was not recorded says so
// once, and all the others are recorded.
func TestFleetOutage(t *testing.T) {
	f, server := newServerFleet(t, "--appendonly", "yes", "--appendfsync", "always")
	const abreast = 20
	large := large()
	var warned, ran atomic.Int64
	var group sync.WaitGroup
	for range abreast {
		group.Go(func() {
			for range large / abreast {
				c := f.cb("run", "--name", "api", "--", "sh", "-c", "echo ran >>runs; exit 0")
				text, err := c.CombinedOutput()
				if err != nil {
					t.Errorf("%v: %s", err, text)
				}
				if n := strings.Count(string(text), "cb: warning: "); n == 1 {
					warned.Add(1)
				} else if n > 1 || len(text) > 0 {
					t.Errorf("it says %s", text)
				}
				if ran.Add(1) == int64(large/3) {
					server.Kill()
				}
			}
		})
	}
	f.eventually("some runs were not recorded", func() bool { return warned.Load() > 3 })
	server.Restart()
	group.Wait()
	missed := int(warned.Load())
	s := f.status("api")
	if n := f.lines("runs"); n != large || s.Totals.Successes < large-missed || s.Totals.Successes > large || s.Totals.Late > 0 {
		t.Errorf("%d of %d commands ran, %d said that they were not recorded, and there are %+v", n, large, missed, s)
	}
	t.Logf("%d runs, %d not recorded, %d recorded", large, missed, s.Totals.Successes)
}

// TestServerTroubleDuringARun lets something happen to the server while the
// command runs. Its code stands, and there is one warning.
func TestServerTroubleDuringARun(t *testing.T) {
	for name, test := range map[string]struct {
		happens func(s *redistest.Server)
		want    string // in the warning; empty: there is none
	}{
		"nothing":   {func(*redistest.Server) {}, ""},
		"killed":    {(*redistest.Server).Kill, "connection refused"},
		"restarted": {func(s *redistest.Server) { s.Kill(); s.Restart() }, ""},
		"flushed":   {func(s *redistest.Server) { s.Do("FLUSHALL") }, ""},
		"paused":    {(*redistest.Server).Pause, "answer in time"},
		"replica":   {func(s *redistest.Server) { s.Do("REPLICAOF", "127.0.0.1", "1") }, "is a read-only replica"},
		"full":      {func(s *redistest.Server) { s.Do("CONFIG", "SET", "maxmemory", "1") }, "is out of memory"},
		"locked": {func(s *redistest.Server) {
			s.Do("CLIENT", "KILL", "TYPE", "normal")
			s.Do("CONFIG", "SET", "requirepass", "pa55word")
		}, "asks for a password"},
		"taken": {func(s *redistest.Server) { s.Do("DEL", "cb:{api}"); s.Do("LPUSH", "cb:{api}", "x") }, "not a circuit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			f := fleet{t, t.TempDir(), server.URL()}
			_ = f.cb("run", "--name", "api", "--", "false").Run() // so that the circuit is there
			c := f.cb("run", "--store-limit", "2s", "--name", "api", "-c", "echo >started; while [ -e started ] && [ ! -e go ]; do sleep 0.01; done; exit 7")
			var stderr strings.Builder
			c.Stderr = &stderr
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			f.eventually("it runs", func() bool { return f.lines("started") == 1 })
			test.happens(server)
			f.create("go")
			_ = c.Wait() // the exit code is looked at
			if code := c.ProcessState.ExitCode(); code != 7 {
				t.Errorf("exit code %d, want the command's own", code)
			}
			said := stderr.String()
			switch {
			case test.want == "" && said != "":
				t.Errorf("it says %s", said)
			case test.want != "" && (strings.Count(said, "\n") != 1 || !strings.Contains(said, test.want) ||
				!strings.HasPrefix(said, "cb: warning: cannot save api (") || !strings.HasSuffix(said, "the command's result stands\n")):
				t.Errorf("it says %q, want one warning with %q", said, test.want)
			}
		})
	}
}

// TestServerProbeDies kills a run that probes, as a host that dies would.
func TestServerProbeDies(t *testing.T) {
	f, server := newServerFleet(t)
	_ = f.cb("run", "--name", "api", "--threshold", "1", "--timeout", "1ms", "false").Run()
	f.eventually("the period ends", func() bool { return f.cb("check", "api").Run() == nil })
	probe := f.cb("run", "--name", "api", "--timeout", "1ms", "-c", "echo >started; while [ -e started ]; do sleep 0.05; done")
	if err := probe.Start(); err != nil {
		t.Fatal(err)
	}
	f.eventually("it runs", func() bool { return f.lines("started") == 1 })
	if err := f.cb("run", "--name", "api", "true").Run(); err == nil {
		t.Error("a second probe is let through")
	}
	ms, _ := server.Do("PTTL", "cb:{api}:leases").(int64)
	if ms <= 25_000 || ms > 30_000 {
		t.Errorf("the lease lasts %d ms more, want up to 30 s", ms)
	}
	_ = probe.Process.Kill()
	_ = probe.Wait()
	server.Do("DEL", "cb:{api}:leases") // the 30 s are over
	if out, err := f.cb("run", "--name", "api", "--timeout", "1ms", "true").CombinedOutput(); err != nil {
		t.Errorf("the probe after a lost one: %v\n%s", err, out)
	}
	if s := f.status("api"); s.State != "closed" {
		t.Errorf("afterwards %+v", s)
	}
}

// TestServerServesAllCommands is the story of one circuit on a server.
func TestServerServesAllCommands(t *testing.T) {
	server := redistest.Start(t)
	f := fleet{t, t.TempDir(), server.URL() + "?prefix=ci"}
	for _, step := range []struct {
		command string
		code    int
		says    string
	}{
		{"status", 0, "no circuits yet in redis://" + server.Addr + "?prefix=ci"},
		{"run --name api --threshold 1 --timeout 1h false", 1, "api opened: 1 failure in a row"},
		{"run --name api true", 75, "api is open"},
		{"check api", 75, "api is open"},
		{"status", 0, "open"},
		{"status api", 0, "failure in a row"},
		{"history api", 0, "open"},
		{"__complete status a", 0, "api\n"},
		{"reset api", 0, "api closed"},
		{"hold api --reason move", 0, "api is held: move"},
		{"run --name api true", 75, "api is held: move"},
		{"enable api", 0, "api is no longer held"},
		{"record api failure", 0, ""},
		{"trip api", 0, "api opened"},
		{"reset --all", 0, "api closed"},
		{"disable api", 0, "api is disabled"},
		{"enable 'ap*'", 0, "api is no longer disabled"},
		{"metrics", 0, `cb_circuit_state{circuit="api",state="closed"} 1`},
		{"run --name web --fallback-cached -c 'echo fresh'", 0, "fresh"},
		{"run --name web --fallback-cached -c 'echo broken; exit 1'", 0, "fresh"},
		{`record "$(cb acquire web)" success`, 0, ""},
		{"prune --older-than 1ms", 0, "api is forgotten"},
		{"status api", 125, "no circuit is called"},
	} {
		c := f.shell("cb " + step.command)
		out, _ := c.CombinedOutput()
		if code := c.ProcessState.ExitCode(); code != step.code || !strings.Contains(string(out), step.says) {
			t.Errorf("cb %s: exit code %d, want %d and %q\n%s", step.command, code, step.code, step.says, out)
		}
	}
	if _, err := os.Stat(filepath.Join(f.dir, "store")); !os.IsNotExist(err) {
		t.Errorf("there are files: %v", err)
	}
}
