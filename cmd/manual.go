package cmd

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cb/internal/breaker"
	"cb/internal/render"
	"cb/internal/store"
)

// manual is a command by which an operator changes circuits.
type manual struct {
	change  func(breaker.Circuit, breaker.Order) breaker.Circuit
	tell    func(name string, before, after breaker.Circuit, now time.Time) string
	creates bool // also a circuit that was never seen: it may be needed before the first run
}

// manualOptions are the flags of the manual commands.
type manualOptions struct {
	all    bool
	length time.Duration
	reason string
}

func newTrip(env *Env) *cobra.Command {
	return env.newManual(manual{breaker.Circuit.Trip, tripText, true}, cobra.Command{
		Use:   "trip NAME|GLOB... | --all",
		Short: "Open circuits by hand; they recover as usual",
		Long: `Open circuits by hand, for their timeout or for --for; then a probe is let
through and they recover as usual. A circuit that is open starts a new period.`,
		Example: `  cb trip deploy-api --reason 'status page says outage'
  cb trip 'backup-*' --for 2h`,
	}, "for", "reason")
}

func newHold(env *Env) *cobra.Command {
	return env.newManual(manual{breaker.Circuit.Hold, holdText, true}, cobra.Command{
		Use:   "hold NAME|GLOB... | --all",
		Short: "Refuse every run until enabled, or for a time",
		Long: `Refuse every run of a circuit, whatever its state, until cb enable or for --for:
for maintenance. The state below the hold is kept.`,
		Example: `  cb hold deploy-api --for 2h --reason 'database migration'
  cb hold --all`,
	}, "for", "reason")
}

func newDisable(env *Env) *cobra.Command {
	return env.newManual(manual{breaker.Circuit.Disable, disableText, true}, cobra.Command{
		Use:   "disable NAME|GLOB... | --all",
		Short: "Permit every run and freeze the circuit until enabled",
		Long: `Permit every run of a circuit and freeze its state until cb enable: runs are
counted in its totals and judged by nobody.`,
		Example: `  cb disable deploy-api --reason 'noisy endpoint'`,
	}, "reason")
}

func newEnable(env *Env) *cobra.Command {
	return env.newManual(manual{breaker.Circuit.Enable, enableText, false}, cobra.Command{
		Use:   "enable NAME|GLOB... | --all",
		Short: "Lift a hold or a disable",
		Long: `Lift a hold or a disable. The state below it was kept; a circuit that was
half-open is open, with its probe due.`,
		Example: `  cb enable deploy-api
  cb enable --all`,
	})
}

func newReset(env *Env) *cobra.Command {
	return env.newManual(manual{breaker.Circuit.Reset, resetText, false}, cobra.Command{
		Use:   "reset NAME|GLOB... | --all",
		Short: "Close circuits and forget their streak and window",
		Long: `Close circuits and forget their streak and window. Totals and history are kept,
and so is an override: cb enable lifts a hold.`,
		Example: `  cb reset deploy-api
  cb reset --all`,
	})
}

// newManual completes a manual command; flags names the optional ones it has.
func (env *Env) newManual(m manual, c cobra.Command, flags ...string) *cobra.Command {
	opts := &manualOptions{}
	c.GroupID = groupChange
	c.Args = cobra.ArbitraryArgs // checked together with --all
	c.ValidArgsFunction = env.completeNames
	c.RunE = func(c *cobra.Command, args []string) error { return env.manual(c, m, opts, args) }
	fs := c.Flags()
	fs.SortFlags = false
	if slices.Contains(flags, "for") {
		fs.Var(duration{&opts.length}, "for", "how long it lasts")
	}
	if slices.Contains(flags, "reason") {
		fs.StringVar(&opts.reason, "reason", "", "why, for those who read it later: `TEXT`")
	}
	fs.BoolVar(&opts.all, "all", false, "every circuit of the store")
	return &c
}

// manual applies a command to all circuits that it is for. One that cannot be
// saved does not keep the others from being changed.
func (env *Env) manual(c *cobra.Command, m manual, opts *manualOptions, args []string) error {
	circuits, err := env.openStore(c)
	if err != nil {
		return err
	}
	names, err := env.selected(c, circuits, args, opts.all)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		env.say(fmt.Sprintf("nothing to %s: no circuits in %s", c.Name(), circuits.Place()))
	}
	failed := false
	for _, name := range names {
		if _, _, found, err := circuits.Read(name); err == nil && !found && !m.creates {
			env.say(fmt.Sprintf("nothing to %s: no circuit is called %q in %s", c.Name(), name, circuits.Place()))
			continue
		}
		if err := env.apply(c, circuits, name, m, opts); err != nil {
			env.say(fmt.Sprintf("cannot save %s (%s); it is as it was", name, store.Cause(err)))
			failed = true
		}
	}
	if failed {
		return &exit{code: exitTrouble}
	}
	return nil
}

func (env *Env) apply(c *cobra.Command, circuits inventory, name string, m manual, opts *manualOptions) error {
	var before, after breaker.Circuit
	order := breaker.Order{By: env.user(), Reason: opts.reason, For: opts.length, Seed: env.Seed()}
	err := circuits.Update(c.Context(), name, func(circuit breaker.Circuit, now time.Time) (breaker.Circuit, error) {
		order.At = now
		before, after = circuit, m.change(circuit, order)
		return after, nil
	})
	if err != nil {
		return err //nolint:wrapcheck // manual says what it was doing
	}
	env.say(m.tell(name, before, after, order.At))
	return nil
}

// selected returns the names that a manual command is for: names as they are,
// and what globs match.
func (env *Env) selected(c *cobra.Command, circuits inventory, args []string, all bool) ([]string, error) {
	switch {
	case all && len(args) > 0:
		return nil, &usageError{err: fmt.Errorf("--all goes without names, but %q is given", args[0])}
	case !all && len(args) == 0:
		return nil, &usageError{
			err:  fmt.Errorf("%s needs a name, or --all", c.Name()),
			hint: "cb status lists the circuits",
		}
	case !all && !slices.ContainsFunc(args, isGlob):
		return args, checkNames(args)
	}
	known, err := circuits.Names()
	if err != nil {
		return nil, fmt.Errorf("cannot read %s (%s)", circuits.Place(), store.Cause(err))
	}
	if all {
		return known, nil
	}
	var names []string
	for _, arg := range args {
		matching := slices.DeleteFunc(slices.Clone(known), func(name string) bool { return !matches(arg, name) })
		switch {
		case !isGlob(arg):
			matching = []string{arg}
		case len(matching) == 0:
			return nil, &usageError{err: fmt.Errorf("no circuit matches %q", arg), hint: "looked in " + circuits.Place()}
		}
		for _, name := range matching {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names, checkNames(names)
}

// The texts say what changed and what did not.

func tripText(name string, before, after breaker.Circuit, now time.Time) string {
	text := fmt.Sprintf("%s opened: %s; next try at %s", name, after.Reason, render.Clock(after.RetryAt, now))
	if before.State == breaker.Open {
		text = fmt.Sprintf("%s was open; a new period begins: next try at %s", name, render.Clock(after.RetryAt, now))
	}
	return text + still(after)
}

func resetText(name string, before, after breaker.Circuit, now time.Time) string {
	text := name + " was closed already"
	switch {
	case before.State != breaker.Closed:
		text = fmt.Sprintf("%s closed: reset after %s%s", name, render.Span(now.Sub(before.OpenedAt)), skipped(before.Skipped))
	case before.Streak > 0:
		text = fmt.Sprintf("%s was closed; its failures in a row (%d) are forgotten", name, before.Streak)
	}
	return text + still(after)
}

func holdText(name string, before, after breaker.Circuit, now time.Time) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s is held", name)
	if after.Override.Reason != "" {
		fmt.Fprintf(&text, ": %s", after.Override.Reason)
	}
	if until := after.Override.Until; until.IsZero() {
		fmt.Fprintf(&text, " (until cb enable %s)", name)
	} else {
		fmt.Fprintf(&text, " (until %s)", render.Clock(until, now))
	}
	fmt.Fprintf(&text, "; it was %s", before.Shown())
	return text.String()
}

func disableText(name string, before, after breaker.Circuit, _ time.Time) string {
	text := name + " is disabled"
	if after.Override.Reason != "" {
		text += ": " + after.Override.Reason
	}
	return fmt.Sprintf("%s; every run goes through until cb enable %s; it was %s", text, name, before.Shown())
}

func enableText(name string, before, after breaker.Circuit, now time.Time) string {
	if before.Override.Kind == breaker.NoOverride {
		return fmt.Sprintf("%s was neither held nor disabled; it is %s", name, before.Shown())
	}
	text := fmt.Sprintf("%s is no longer %s; it is %s", name, before.Override.Kind, after.State)
	switch {
	case after.ProbeDue(now):
		text += ", and the next run is its probe"
	case after.State == breaker.Open:
		text += ", next try at " + render.Clock(after.RetryAt, now)
	}
	return text
}

// still tells of an override that a command has left in place.
func still(after breaker.Circuit) string {
	if after.Override.Kind == breaker.NoOverride {
		return ""
	}
	return fmt.Sprintf("; it is still %s: cb enable lifts that", after.Override.Kind)
}
