package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cb/internal/store"
)

// TestScreens compares the screens of the documentation, for a terminal of 80
// columns, with what cb shows of the circuits that this morning has made.
func TestScreens(t *testing.T) {
	screens := ""
	for _, page := range []string{"README.md", "docs/status.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, ok := strings.Cut(string(text), "```text\n$ cb status")
		screen, _, closed := strings.Cut("$ cb status"+rest, "```")
		if !ok || !closed {
			t.Fatalf("%s has no screen", page)
		}
		screens += screen
	}
	day := newMorning(t)
	for range 20 {
		day.work("fetch-rates", "0", 800*time.Millisecond)
		day.work("日次レポート", "0", 41*time.Second, "--window", "20", "--failure-rate", "50")
		day.wait(10 * time.Minute)
	}
	day.work("日次レポート", "1", 12*time.Second, "--window", "20", "--failure-rate", "50")
	day.cb("disable", "thumbnails", "--reason", "noisy since the update")
	day.work("sync-mail", "1", 3*time.Second, "--threshold", "1", "--timeout", "1h")
	day.wait(40 * time.Minute)
	for range 4 {
		day.work("deploy-api", "0", 2100*time.Millisecond)
		day.wait(time.Minute)
	}
	for range 3 {
		day.work("deploy-api", "7", 30*time.Second)
	}
	day.cb("hold", "backup-home", "--for", "2h", "--reason", "disk is being replaced")
	day.wait(2 * time.Minute)
	for range 14 {
		day.cb("acquire", "deploy-api")
	}
	day.wait(20 * time.Minute)
	day.cb("acquire", "sync-mail")
	day.wait(90 * time.Second)
	day.work("deploy-api", "7", 30*time.Second, "--backoff", "2")
	day.wait(48 * time.Second)
	for step := range strings.SplitSeq(screens, "$ ") {
		line, want, _ := strings.Cut(step, "\n")
		if line == "" {
			continue
		}
		want = strings.TrimRight(want, "\n") + "\n" // an empty line divides the screens
		if got := day.cb(strings.Fields(line)[1:]...); got != want {
			t.Errorf("$ %s\ngot:\n%swant:\n%s", line, got, want)
		}
	}
}

// morning is a store whose clock stands still while nothing is done.
type morning struct {
	t   *testing.T
	dir string
	now store.Reading
}

func newMorning(t *testing.T) *morning {
	t.Helper()
	wall := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	return &morning{t, t.TempDir(), store.Reading{Wall: wall, BootID: "boot-1", Boot: time.Hour}}
}

func (m *morning) wait(d time.Duration) {
	m.now.Wall, m.now.Boot = m.now.Wall.Add(d), m.now.Boot+d
}

// cb returns what cb writes to stdout.
func (m *morning) cb(args ...string) string {
	m.t.Helper()
	clock := filepath.Join(m.dir, ".clock")
	if err := writeClock(clock, m.now); err != nil {
		m.t.Fatal(err)
	}
	c := exec.Command("cb", args...)
	c.Env = append(os.Environ(), "CB_STORE="+filepath.Join(m.dir, "store"), "XDG_CONFIG_HOME="+m.dir,
		clockFile+"="+clock, "TZ=UTC", "USER=alice", "SUDO_USER=", "COLUMNS=80", "CLICOLOR_FORCE=", "CB_THRESHOLD=")
	out, err := c.Output()
	if err != nil && c.ProcessState.ExitCode() == 125 {
		m.t.Fatalf("cb %q: %v", args, err)
	}
	return string(out)
}

// work takes as long as the clock says.
func (m *morning) work(name, code string, took time.Duration, flags ...string) {
	m.t.Helper()
	permit := strings.TrimSpace(m.cb(append([]string{"acquire", name}, flags...)...))
	m.wait(took)
	m.cb("record", permit, "--exit-code", code)
}
