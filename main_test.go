package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"cb/cmd"
	"cb/internal/store"
	"cb/internal/tlsconn"
)

// clockFile names the file in which a script keeps its fake clock.
const clockFile = "CB_TEST_CLOCK"

func TestMain(m *testing.M) {
	os.Setenv("GORACE", "atexit_sleep_ms=0") // a second in each of a thousand processes
	testscript.Main(m, map[string]func(){
		"cb": func() { os.Exit(cmd.Main(testEnvironment())) },
		// With TLS, where a store needs it.
		"cb-tls": func() {
			env := testEnvironment()
			env.Secure = tlsconn.Client
			os.Exit(cmd.Main(env))
		},
	})
}

// testEnvironment is environment, with the clock that a script sets.
func testEnvironment() cmd.Env {
	env := environment()
	if file := os.Getenv(clockFile); file != "" {
		env.Clock = func() store.Reading { return readClock(file) }
	}
	return env
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: false,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			env.Setenv("STORE", filepath.Join(env.WorkDir, "state", "cb"))
			env.Setenv("TZ", "UTC")
			env.Setenv("GORACE", os.Getenv("GORACE"))
			env.Setenv("USER", "alice")
			clock := filepath.Join(env.WorkDir, ".clock")
			env.Setenv(clockFile, clock)
			return writeClock(clock, store.Reading{
				Wall: time.Date(2026, 3, 1, 14, 0, 0, 0, time.UTC), BootID: "boot-1", Boot: time.Hour,
			})
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"clock":     moveClock,
			"json":      checkJSON,
			"cb-record": recordPermit,
		},
	})
}

// exits CODE COMMAND [ARG...] runs a command and wants exactly that exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var failed *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &failed) {
		got = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d\nstderr: %s", got, want, ts.ReadFile("stderr"))
	}
}

// cb-record FILE ARG... records the permit that a file holds.
func recordPermit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: cb-record FILE ARG...")
	}
	word := strings.TrimSpace(ts.ReadFile(args[0]))
	ts.Check(ts.Exec("cb", append([]string{"record", word}, args[1:]...)...))
}

// clock DURATION lets time pass; clock wall DURATION steps the wall clock
// alone; clock reboot DURATION restarts the machine, which takes that long.
func moveClock(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: clock [wall|reboot] DURATION")
	}
	by, err := time.ParseDuration(args[len(args)-1])
	ts.Check(err)
	file := ts.Getenv(clockFile)
	now := readClock(file)
	now.Wall = now.Wall.Add(by)
	switch args[0] {
	case "wall":
	case "reboot":
		now.BootID, now.Boot = now.BootID+"+1", time.Minute
	default:
		now.Boot += by
	}
	ts.Check(writeClock(file, now))
}

func readClock(file string) store.Reading {
	var now store.Reading
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &now)
	}
	if err != nil {
		panic(err)
	}
	return now
}

func writeClock(file string, now store.Reading) error {
	text, err := json.Marshal(now)
	if err != nil {
		return fmt.Errorf("write clock: %w", err)
	}
	return os.WriteFile(file, text, 0o600)
}

// json PATH VALUE looks a value up in the JSON on stdout: ".0.totals.runs".
// With ! the value must be another.
func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: json PATH VALUE")
	}
	var value any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &value))
	for key := range strings.SplitSeq(strings.Trim(args[0], "."), ".") {
		switch node := value.(type) {
		case map[string]any:
			member, ok := node[key]
			if !ok {
				ts.Fatalf("no key %q on the way of %s", key, args[0])
			}
			value = member
		case []any:
			i, err := strconv.Atoi(key)
			ts.Check(err)
			if i < 0 {
				i += len(node)
			}
			if i < 0 || i >= len(node) {
				ts.Fatalf("no element %s of %d on the way of %s", key, len(node), args[0])
			}
			value = node[i]
		default:
			ts.Fatalf("%v has no %q", value, key)
		}
	}
	text, err := json.Marshal(value)
	ts.Check(err)
	got := strings.Trim(string(text), `"`)
	if (got == args[1]) == neg {
		ts.Fatalf("%s is %s, want %s", args[0], got, args[1])
	}
}

// size picks how much a test tries: CB_TEST_LONG is unset, 1 or more.
func size(short, middle, long int) int {
	switch os.Getenv("CB_TEST_LONG") {
	case "":
		return short
	case "1":
		return middle
	}
	return long
}
