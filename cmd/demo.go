package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"cb/internal/breaker"
	"cb/internal/process"
)

func newDemo(env *Env) *cobra.Command {
	fast := false
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show a circuit at work, in half a minute",
		Long: `Show a circuit at work: a small service fails, its circuit opens, runs are skipped,
a probe finds the service well, and the circuit closes. The service is a script
and the circuit a real one, both in a temporary directory that is removed at the
end; nothing else is touched, and no network is needed. ^C ends it at any time.`,
		Example: `  cb demo
  cb demo --fast`,
		GroupID:           groupMore,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(_ *cobra.Command, _ []string) error { return env.demo(fast) },
	}
	c.Flags().BoolVar(&fast, "fast", false, "no pauses to read in, as when stdout is no terminal")
	return c
}

// demo is one tour.
type demo struct {
	env     *Env
	ctx     context.Context // done when somebody has had enough
	dir     string          // where everything is
	program string          // cb itself
	paced   bool            // somebody is watching
	timeout time.Duration   // of the circuit
	due     time.Time       // when that is over
}

// The pauses of a tour that somebody watches.
const (
	demoRead    = 1800 * time.Millisecond // to read what was said
	demoKey     = 15 * time.Millisecond   // between two letters of a command
	demoTick    = 250 * time.Millisecond  // between two pictures of the bar
	demoSettle  = 500 * time.Millisecond  // for a ^C that has ended a child to reach us too
	demoTimeout = 12 * time.Second
	demoHaste   = 3 * time.Second // the timeout when nobody watches; slow machines need as much
)

// errEnough says that the tour was told to end.
var errEnough = errors.New("told to end")

func (env *Env) demo(fast bool) error {
	signals := process.Catch()
	dir, err := os.MkdirTemp("", "cb-demo-")
	if err != nil {
		return fmt.Errorf("make a place for the tour: %w", err)
	}
	defer os.RemoveAll(dir)
	program, err := env.Executable()
	if err != nil {
		return fmt.Errorf("find cb itself: %w", err)
	}
	d := &demo{env: env, ctx: signals.Context(), dir: dir, program: program, timeout: demoHaste}
	if d.paced = !fast && term.IsTerminal(int(env.Stdout.Fd())); d.paced {
		d.timeout = demoTimeout
	}
	err = d.tour()
	if stopped := signals.Stopped(); stopped != 0 {
		_ = d.write("\n")
		return &exit{code: 128 + int(stopped), signal: stopped}
	}
	return err
}

func (d *demo) tour() error {
	if err := d.writeService(); err != nil {
		return err
	}
	run := append([]string{"run", "--name", "demo", "--threshold", "3", "--timeout", breaker.FormatDuration(d.timeout), "--"}, service()...)
	for _, step := range []func() error{
		d.say("A tour of cb: half a minute, offline, nothing of yours is touched; ^C ends it.\n\n" +
			"A service works. cb runs it as if cb were not there; the circuit is closed."),
		d.cb(0, run...),
		d.say("Now the service breaks, and every call fails."),
		d.breaks(true),
		d.cb(1, run...), d.cb(1, run...), d.cb(1, run...), d.opened,
		d.say("Three failures in a row have opened the circuit, and cb has said so once.\n" +
			"From now on the service is left in peace: the next run is skipped, with exit code 75."),
		d.cb(exitRefused, run...),
		d.cb(0, "status"),
		d.say("Meanwhile somebody mends the service. cb does not know; it waits for the open period to end."),
		d.breaks(false),
		d.wait,
		d.say("The next run is the probe. It succeeds, so the circuit closes."),
		d.cb(0, run...),
		d.cb(0, run...),
		d.cb(0, "history", "demo"),
		d.say("That was all. Now put your own command behind a circuit, in cron, CI or a script:\n\n" +
			"  cb run --name NAME -- COMMAND\n\ncb help states tells the rest; cb doctor checks that all is well here."),
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// say returns a step that tells something.
func (d *demo) say(text string) func() error {
	return func() error {
		if err := d.write("\n" + text + "\n\n"); err != nil {
			return err
		}
		return d.pause(demoRead)
	}
}

// cb returns a step that runs cb, as somebody would who types the command.
func (d *demo) cb(want int, args ...string) func() error {
	return func() error {
		if err := d.prompt("cb " + strings.Join(args, " ")); err != nil {
			return err
		}
		child, err := os.StartProcess(d.program, append([]string{"cb"}, args...), &os.ProcAttr{
			Dir:   d.dir,
			Env:   d.vars(),
			Files: []*os.File{d.env.Stdin, d.env.Stdout, d.env.Stdout}, // one transcript
		})
		if err != nil {
			return fmt.Errorf("run cb itself: %w", err)
		}
		state, err := child.Wait()
		if err == nil && state.ExitCode() != want {
			_ = d.sleep(demoSettle)
		}
		switch {
		case d.ctx.Err() != nil:
			return errEnough
		case err != nil:
			return fmt.Errorf("wait for cb: %w", err)
		case state.ExitCode() != want:
			return fmt.Errorf("the tour went astray: cb %s: exit code %d instead of %d", args[0], state.ExitCode(), want)
		case want != 0:
			err = d.write(d.faint(fmt.Sprintf("(exit code %d)", want)) + "\n")
		}
		return errors.Join(err, d.pause(demoRead/2))
	}
}

// vars are the variables of a user who has configured nothing.
func (d *demo) vars() []string {
	vars := []string{"CB_STORE=" + filepath.Join(d.dir, "store"), configVariable + "=" + os.DevNull}
	for _, entry := range d.env.outerVars() {
		if !strings.HasPrefix(entry, "CB_") {
			vars = append(vars, entry)
		}
	}
	return vars
}

// breaks returns a step after which the service fails, or works again.
func (d *demo) breaks(broken bool) func() error {
	file := filepath.Join(d.dir, "broken")
	return func() error {
		if !broken {
			return errors.Join(d.prompt(mendCommand), os.Remove(file))
		}
		return errors.Join(d.prompt(breakCommand), os.WriteFile(file, nil, 0o600))
	}
}

// opened is a step that begins to count the open period.
func (d *demo) opened() error {
	ctx, done := context.WithTimeout(d.ctx, d.timeout)
	defer done()
	d.due, _ = ctx.Deadline()
	return nil
}

// wait is a step that lets the open period pass.
func (d *demo) wait() error {
	if !d.paced {
		return d.sleep(time.Until(d.due))
	}
	const width = 30
	for left := time.Until(d.due); left > 0; left = time.Until(d.due) {
		done := int(width * (d.timeout - left) / d.timeout)
		bar := strings.Repeat("█", done) + strings.Repeat("░", width-done)
		err := d.write(fmt.Sprintf("\r  open  %s  %2ds", bar, (left+time.Second-1)/time.Second))
		if err = errors.Join(err, d.sleep(min(left, demoTick))); err != nil {
			return err
		}
	}
	return d.write("\r" + clearToEnd + d.faint("  the open period is over") + "\n")
}

// prompt writes a command as if it were typed.
func (d *demo) prompt(line string) error {
	if !d.paced {
		return d.write("$ " + line + "\n")
	}
	if err := d.write("$ "); err != nil {
		return err
	}
	for _, letter := range line {
		if err := errors.Join(d.write(string(letter)), d.sleep(demoKey)); err != nil {
			return err
		}
	}
	return d.write("\n")
}

// pause gives somebody who watches time to read.
func (d *demo) pause(length time.Duration) error {
	if !d.paced {
		length = 0
	}
	return d.sleep(length)
}

func (d *demo) sleep(length time.Duration) error {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-d.ctx.Done():
		return errEnough
	case <-timer.C:
		return nil
	}
}

func (d *demo) faint(text string) string {
	if d.env.style().Colour {
		return "\x1b[2m" + text + "\x1b[0m"
	}
	return text
}

func (d *demo) write(text string) error {
	if _, err := io.WriteString(process.Writer(d.env.Stdout), text); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}
