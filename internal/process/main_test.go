//go:build unix

package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// TestMain lets the test binary stand in for programs: with a first argument
// like @wrap it is one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "@") {
		os.Exit(helper(os.Args[1], os.Args[2:]))
	}
	// What is ignored here, under nohup or in a background job, the programs
	// under test would inherit as ignored. They do not inherit a handler.
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // a second in each of hundreds of processes
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("os/signal.signal_recv"), goleak.IgnoreTopFunction("os/signal.loop"))
}

func helper(name string, args []string) int {
	switch name {
	case "@wrap":
		return wrapMain(args)
	case "@count":
		return countMain(args)
	case "@args":
		fmt.Printf("%q", args)
		return 0
	case "@isatty":
		for fd := range 3 {
			_, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
			fmt.Print(err == nil, " ")
		}
		return 0
	case "@exit": // with this code at an interrupt
		in := make(chan os.Signal, 1)
		signal.Notify(in, syscall.SIGINT)
		fmt.Println("ready")
		<-in
		n, _ := strconv.Atoi(args[0])
		return n
	case "@blocked": // signal numbers, then --, then a command to run with them blocked
		return blockedMain(args)
	case "@shellraise":
		n, _ := strconv.Atoi(args[0])
		dropCore()
		raiseByShell(syscall.Signal(n))
	}
	return 99
}

// wrapMain is what a program does with this package.
func wrapMain(args []string) int {
	s := Catch()
	defer s.Close()
	var c Command
	flags := flag.NewFlagSet("@wrap", flag.ExitOnError)
	flags.DurationVar(&c.TimeLimit, "limit", 0, "")
	flags.DurationVar(&c.KillAfter, "kill", 10*time.Second, "")
	pipe := flags.Bool("pipe", false, "")
	result := flags.String("result", "", "")
	say := flags.String("say", "", "")
	flags.Parse(args)
	c.Args, c.Env = flags.Args(), os.Environ()
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	if *pipe {
		c.PipeStdout, c.PipeStderr = Writer(os.Stdout), Writer(os.Stderr)
	}
	r := c.Run(s)
	if r.StartErr != nil {
		fmt.Fprintln(os.Stderr, r.StartErr)
	}
	if *say != "" {
		fmt.Fprintln(Writer(os.Stderr), *say)
	}
	if *result != "" {
		r.StartErr = nil
		text, _ := json.Marshal(r)
		os.WriteFile(*result, text, 0o600)
	}
	if r.Signal != 0 && !r.TimedOut {
		Raise(r.Signal)
	}
	return r.Code
}

// countMain counts the signals it is told to, until USR2 comes.
func countMain(args []string) int {
	all := map[string]syscall.Signal{
		"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP,
		"QUIT": syscall.SIGQUIT, "USR1": syscall.SIGUSR1, "WINCH": syscall.SIGWINCH,
		"ALRM": syscall.SIGALRM, "CONT": syscall.SIGCONT,
	}
	in := make(chan os.Signal, 100)
	signal.Notify(in, syscall.SIGUSR2)
	names := make(map[os.Signal]string)
	for _, name := range args {
		signal.Notify(in, all[name])
		names[all[name]] = name
	}
	counts := make(map[string]int)
	fmt.Println("ready", os.Getpid())
	for sig := range in {
		if sig == syscall.SIGUSR2 {
			break
		}
		counts[names[sig]]++
		fmt.Println("got", names[sig])
	}
	fmt.Println("counts", counts)
	return 0
}

// self returns the command line of a helper.
func self(args ...string) []string { return append([]string{os.Args[0]}, args...) }

// wrapper returns a command that runs argv through wrapMain. Everything below
// it has a token in its environment, by which it can be found and ended.
type wrapper struct {
	*exec.Cmd
	token  string
	result string
}

func wrap(t *testing.T, flags string, argv ...string) *wrapper {
	t.Helper()
	dir := t.TempDir()
	w := &wrapper{
		token:  "PROCESS_TEST_TOKEN=" + dir,
		result: filepath.Join(dir, "result"),
	}
	args := append([]string{"@wrap", "-result", w.result}, strings.Fields(flags)...)
	w.Cmd = exec.Command(os.Args[0], append(append(args, "--"), argv...)...)
	w.Env = append(os.Environ(), w.token)
	w.WaitDelay = 20 * time.Second
	t.Cleanup(func() { endAll(w.token) })
	return w
}

// in runs the wrapper from a shell line in which "$@" stands for it.
func (w *wrapper) in(line string) *wrapper {
	w.Args = append([]string{"/bin/sh", "-c", line, "sh"}, w.Args...)
	w.Path = "/bin/sh"
	return w
}

// without cuts w off from the terminal of whoever runs the tests.
func (w *wrapper) withoutTerminal() *wrapper {
	w.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return w
}

type ended struct {
	out, err string
	status   syscall.WaitStatus
	took     time.Duration
}

func (e ended) String() string {
	if e.status.Signaled() {
		return "died of " + e.status.Signal().String()
	}
	return "exit " + strconv.Itoa(e.status.ExitStatus())
}

// finish runs cmd with its output in files, so that only the process itself
// is waited for.
func finish(t *testing.T, cmd *exec.Cmd) ended {
	t.Helper()
	dir := t.TempDir()
	out, err := os.Create(filepath.Join(dir, "out"))
	check(t, err)
	defer out.Close()
	errs, err := os.Create(filepath.Join(dir, "err"))
	check(t, err)
	defer errs.Close()
	if cmd.Stdout == nil {
		cmd.Stdout = out
	}
	if cmd.Stderr == nil {
		cmd.Stderr = errs
	}
	began := time.Now()
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	e := ended{status: cmd.ProcessState.Sys().(syscall.WaitStatus), took: time.Since(began)}
	e.out, e.err = read(t, out.Name()), read(t, errs.Name())
	return e
}

func (w *wrapper) finish(t *testing.T) ended {
	t.Helper()
	return finish(t, w.Cmd)
}

func (w *wrapper) readResult(t *testing.T) (r Result) {
	t.Helper()
	check(t, json.Unmarshal([]byte(read(t, w.result)), &r))
	return r
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	check(t, err)
	return string(text)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for over := time.Now().Add(20 * time.Second); !done(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(over) {
			t.Fatalf("timed out waiting for: %s", what)
		}
	}
}

// living returns the processes that have the token in their environment.
// Those that have ended but were not waited for have none.
func living(token string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append(env, 0), []byte(token+"\x00")) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		pids = append(pids, pid)
	}
	return pids
}

func endAll(token string) {
	for _, pid := range living(token) {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

func need(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs %s", tool)
		}
	}
}
