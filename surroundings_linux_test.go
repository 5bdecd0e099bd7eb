package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestSurroundings runs cb where it is not at home. Each line is for sh; $CB is
// cb with the circuit's name. The command's own code comes back, and the
// outcome is recorded without a word.
func TestSurroundings(t *testing.T) {
	for name, test := range map[string]struct {
		line string
		code int
		need string // a program
	}{
		"no environment":           {line: `env -i $CB --store "$CB_STORE" run --name api -- /bin/sh -c 'exit 3'`, code: 3},
		"no search path":           {line: `env -u PATH $CB run --name api -c 'exit 3'`, code: 3},
		"no home":                  {line: `env -u HOME -u XDG_CONFIG_HOME -u XDG_STATE_HOME $CB run --name api -c 'exit 3'`, code: 3},
		"no input":                 {line: `$CB run --name api -c 'exit 3' <&-`, code: 3},
		"no output":                {line: `$CB run --name api -c 'exit 3' >&-`, code: 3},
		"no stream for errors":     {line: `$CB run --name api -c 'exit 3' 2>&-`, code: 3},
		"no streams":               {line: `$CB run --name api -c 'exit 3' <&- >&- 2>&-`, code: 3},
		"closed streams of others": {line: `$CB run --name api -c 'echo lost; echo lost >&2; exit 3' <&- >&- 2>&-`, code: 3},
		"full streams":             {line: `$CB run --name api -c 'exit 3' >/dev/full 2>/dev/full`, code: 3},
		"nohup":                    {line: `nohup $CB run --name api -c 'kill -HUP $PPID; kill -HUP $$; exit 3' 2>/dev/null`, code: 3, need: "nohup"},
		"in the background":        {line: `$CB run --name api -c 'exit 3' & wait $!`, code: 3},
		"without a terminal":       {line: `setsid -w $CB run --name api --time-limit 1m -c 'exit 3' </dev/null`, code: 3, need: "setsid"},
		"the first process":        {line: `unshare --pid --fork --mount-proc $CB run --name api -c 'exit 3'`, code: 3, need: "unshare"},
		"the first process, and its command dies": {
			line: `unshare --pid --fork --mount-proc $CB run --name api -c 'kill -9 $$'`, code: 137, need: "unshare",
		},
		"a deleted directory": {line: `mkdir gone; cd gone; rmdir ../gone; $CB run --name api -- false`, code: 1},
		"no room for files":   {line: `ulimit -f 0; exec $CB run --name api -c 'exit 3'`, code: 3},
	} {
		t.Run(name, func(t *testing.T) {
			if test.need != "" {
				needs(t, test.need)
			}
			f := newFleet(t)
			c := f.line(test.line)
			out, err := c.CombinedOutput()
			if test.need == "unshare" && bytes.HasPrefix(out, []byte("unshare:")) {
				t.Skip(string(out))
			}
			if name == "no room for files" && strings.HasPrefix(string(out), "cb: warning: cannot save api (file too large); ") {
				out = nil
				f.fails("", "api") // which is recorded in its place
			}
			if code := c.ProcessState.ExitCode(); code != test.code || len(out) > 0 {
				t.Errorf("it ended with %d (%v), want %d; it said: %s", code, err, test.code, out)
			}
			if n := f.status("api").Totals.Failures; n != 1 {
				t.Errorf("%d failures are recorded", n)
			}
		})
	}
}

// line is a command line in which $CB is cb.
func (f fleet) line(line string) *exec.Cmd {
	f.Helper()
	cb := f.cb()
	c := exec.Command("sh", "-c", line)
	c.Dir, c.Env = cb.Dir, slices.Concat(cb.Env, []string{"CB=" + cb.Path})
	return c
}

// TestManyDescriptors gives cb a thousand descriptors besides its own: the
// command gets them all, and none of cb's.
func TestManyDescriptors(t *testing.T) {
	f := newFleet(t)
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < 1100 {
		t.Skipf("only %d descriptors are allowed (%v)", limit.Cur, err)
	}
	count := func(c *exec.Cmd) string {
		c.Dir, c.Env = f.dir, f.cb().Env
		c.ExtraFiles = slices.Repeat([]*os.File{null}, 1000)
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%v", err)
		}
		return string(out)
	}
	want := count(exec.Command("sh", "-c", "ls /proc/self/fd"))
	if got := count(f.cb("run", "--name", "api", "-c", "ls /proc/self/fd")); got != want {
		t.Errorf("the command has the descriptors %q, want %q", strings.Fields(got), strings.Fields(want))
	}
}

// TestLongCommandLine makes command lines up to the longest with which cb
// itself can be started. The command runs, or cb says in one line why not.
func TestLongCommandLine(t *testing.T) {
	f := newFleet(t)
	ran, refused := 0, 0
	try := func(bytes int) (started bool) {
		words := slices.Repeat([]string{strings.Repeat("x", 100_000)}, bytes/100_000)
		words = append(words, strings.Repeat("x", bytes%100_000))
		c := f.cb(slices.Concat([]string{"run", "--name", "api", "true"}, words)...)
		out, err := c.CombinedOutput()
		if errors.Is(err, syscall.E2BIG) {
			return false
		}
		switch code := c.ProcessState.ExitCode(); {
		case code == 0 && len(out) == 0:
			ran++
		case code == 126 && strings.HasPrefix(string(out), "cb: true: argument list too long\n"):
			refused++
		default:
			t.Fatalf("with %d bytes it ended with %d: %s", bytes, code, out)
		}
		return true
	}
	least, most := 1_000_000, 100_000_000
	if !try(least) {
		t.Skip("a million bytes are too many here")
	}
	for most-least > 1 {
		if middle := (least + most) / 2; try(middle) {
			least = middle
		} else {
			most = middle
		}
	}
	t.Logf("at most %d bytes; %d ran, %d did not", least, ran, refused)
	if ran == 0 {
		t.Error("none ran")
	}
}
