package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"cb/internal/breaker"
)

// The test binary runs itself as the other processes: with this variable set
// it does one of the jobs below instead of the tests.
const jobVariable = "STORE_TEST_JOB"

// TestMain does the job of a child or runs the tests.
func TestMain(m *testing.M) {
	if job := os.Getenv(jobVariable); job != "" {
		os.Exit(work(job, os.Args[1], os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}

// work does the job of a child on a store. Whatever it prints is for the test.
func work(job, url string, args []string) int {
	s := reopen(url)
	defer s.Close()
	err := map[string]func(contractStore, []string) error{
		"count": countJob,
		"probe": probeJob,
		"hold":  holdJob,
		"noop":  noopJob,
		"lost":  lostJob,
		"cause": causeJob,
		"fault": faultJob,
		"clock": clockJob,
	}[job](s, args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// countJob adds to the count of the circuits named args[1:], args[0] times.
func countJob(s contractStore, args []string) error {
	times, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	for range times {
		for _, name := range args[1:] {
			if err := s.Update(context.Background(), name, increment); err != nil {
				return err
			}
			fmt.Println(name)
		}
	}
	return nil
}

func increment(c breaker.Circuit, _ time.Time) (breaker.Circuit, error) {
	c.Totals.Successes++
	return c, nil
}

// probeJob takes a leased probe of the circuit args[0], says so and waits for
// the end of its input. With "orphan" it leaves a child behind that outlives
// it, with "close" it closes the store before it waits.
func probeJob(s contractStore, args []string) error {
	if err := s.Update(context.Background(), args[0], addProbe("0123456789abcdef")); err != nil {
		return err
	}
	if len(args) > 1 && args[1] == "orphan" {
		orphan := exec.Command("sleep", "60")
		orphan.Stdin = os.Stdin
		if err := orphan.Start(); err != nil {
			return err
		}
		fmt.Println(orphan.Process.Pid)
	}
	if len(args) > 1 && args[1] == "close" {
		s.Close()
	}
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	return nil
}

// holdJob holds the lock of the circuit args[0] until its input ends, with an
// orphan that inherits all that it can when there is a second argument.
func holdJob(s contractStore, args []string) error {
	return s.Update(context.Background(), args[0], func(c breaker.Circuit, _ time.Time) (breaker.Circuit, error) {
		if len(args) > 1 {
			orphan := exec.Command("sleep", "60")
			orphan.Stdin = os.Stdin
			if err := orphan.Start(); err != nil {
				return c, err
			}
			fmt.Println(orphan.Process.Pid)
		}
		fmt.Println("ready")
		io.Copy(io.Discard, os.Stdin)
		c.Totals.Successes++
		return c, nil
	})
}

// noopJob changes nothing; for counting system calls.
func noopJob(s contractStore, args []string) error {
	return s.Update(context.Background(), args[0], func(c breaker.Circuit, _ time.Time) (breaker.Circuit, error) {
		return c, nil
	})
}

// lostJob says how many lost probes a reading of the circuit args[0] shows.
func lostJob(s contractStore, args []string) error {
	c, now, _, err := s.Read(args[0])
	if err == nil {
		fmt.Println(lost(c, now))
	}
	return err
}

// causeJob says why the circuit args[0] cannot be changed.
func causeJob(s contractStore, args []string) error {
	err := s.Update(context.Background(), args[0], increment)
	if err == nil {
		return errors.New("it was changed")
	}
	fmt.Println(Cause(err))
	return nil
}

// clockJob says what the boot clock is.
func clockJob(contractStore, []string) error {
	fmt.Println(SystemClock().BootID, int64(SystemClock().Boot))
	return nil
}

// addProbe lists a leased probe in a half-open circuit that allows many.
func addProbe(token string) func(c breaker.Circuit, now time.Time) (breaker.Circuit, error) {
	return func(c breaker.Circuit, now time.Time) (breaker.Circuit, error) {
		c.State, c.Recovery = breaker.HalfOpen, breaker.Recovery{Probes: 9, Needed: 9, Answers: 9}
		c.Probes = append(c.Probes, breaker.Probe{
			Token: token, StartedAt: now, Deadline: now.Add(time.Hour), Leased: true,
		})
		return c, nil
	}
}

// child is a running copy of the test binary.
type child struct {
	*exec.Cmd
	t     *testing.T
	stdin io.WriteCloser
	out   *bufio.Scanner
}

// start runs a job on the store at url.
func start(t *testing.T, job, url string, args ...string) *child {
	t.Helper()
	return newChild(t, os.Args[0], job, url, args...).start()
}

// newChild prepares a child, so that a test can change how it starts.
func newChild(t *testing.T, binary, job, url string, args ...string) *child {
	cmd := exec.Command(binary, append([]string{url}, args...)...)
	cmd.Env = append(os.Environ(), jobVariable+"="+job)
	cmd.Stderr = os.Stderr
	return &child{Cmd: cmd, t: t}
}

func (c *child) start() *child {
	c.t.Helper()
	var err error
	if c.stdin, err = c.StdinPipe(); err != nil {
		c.t.Fatal(err)
	}
	stdout, err := c.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	c.out = bufio.NewScanner(stdout)
	if err := c.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		if c.ProcessState == nil {
			c.Process.Kill()
			c.Wait()
		}
	})
	return c
}

// line returns what the child says next; "" when it has ended.
func (c *child) line() string {
	c.out.Scan()
	return strings.TrimSpace(c.out.Text())
}

// ready waits until the child is.
func (c *child) ready() {
	c.t.Helper()
	if got := c.line(); got != "ready" {
		c.t.Fatalf("the child says %q", got)
	}
}

// kill ends the child as a power cut would.
func (c *child) kill() {
	c.t.Helper()
	if err := c.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	c.Wait()
}

// finish ends the child's input and waits for its success.
func (c *child) finish() {
	c.t.Helper()
	c.stdin.Close()
	for c.out.Scan() {
	}
	if err := c.Wait(); err != nil {
		c.t.Fatal(err)
	}
}
