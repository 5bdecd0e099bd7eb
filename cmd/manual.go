package cmd

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cb/internal/breaker"
	"cb/internal/notify"
	"cb/internal/store"
)

// manual is a command by which an operator changes circuits.
type manual struct {
	change  func(breaker.Circuit, breaker.Order) breaker.Circuit
	tell    func(name string, before, after breaker.Circuit, now time.Time) told
	already string // what it finds where it changes nothing
	lasts   string // how long it lasts without --for; empty: it has no such flag
	reason  bool   // whether it takes one
	creates bool   // also a circuit that was never seen: it may be needed before the first run
}

// manualOptions are the flags of the manual commands.
type manualOptions struct {
	all    bool
	length time.Duration
	reason string
}

func newTrip(env *Env) *cobra.Command {
	return env.newManual(manual{
		change: breaker.Circuit.Trip, tell: tripText, already: "open already",
		lasts: "the timeout that is configured, else that of the policy last used", reason: true, creates: true,
	}, cobra.Command{
		Use:   "trip NAME|GLOB... | --all",
		Short: "Open circuits by hand; they recover as usual",
		Long: `Open circuits by hand, for their timeout or for --for; then a probe is let
through and they recover as usual. A circuit that is open starts a new period.
The timeout is that of the environment or the configuration, else that of the
policy last used.`,
		Example: `  cb trip deploy-api --reason 'status page says outage'
  cb trip 'backup-*' --for 2h`,
	})
}

func newHold(env *Env) *cobra.Command {
	return env.newManual(manual{
		change: breaker.Circuit.Hold, tell: holdText, already: "held already",
		lasts: "until cb enable", reason: true, creates: true,
	}, cobra.Command{
		Use:   "hold NAME|GLOB... | --all",
		Short: "Refuse every run until enabled, or for a time",
		Long: `Refuse every run of a circuit, whatever its state, until cb enable or for --for:
for maintenance. The state below the hold is kept.`,
		Example: `  cb hold deploy-api --for 2h --reason 'database migration'
  cb hold --all`,
	})
}

func newDisable(env *Env) *cobra.Command {
	return env.newManual(manual{
		change: breaker.Circuit.Disable, tell: disableText, already: "disabled already",
		reason: true, creates: true,
	}, cobra.Command{
		Use:   "disable NAME|GLOB... | --all",
		Short: "Permit every run and freeze the circuit until enabled",
		Long: `Permit every run of a circuit and freeze its state until cb enable: runs are
counted in its totals and judged by nobody.`,
		Example: `  cb disable deploy-api --reason 'noisy endpoint'`,
	})
}

func newEnable(env *Env) *cobra.Command {
	return env.newManual(manual{
		change: breaker.Circuit.Enable, tell: enableText, already: "neither held nor disabled",
	}, cobra.Command{
		Use:   "enable NAME|GLOB... | --all",
		Short: "Lift a hold or a disable",
		Long: `Lift a hold or a disable. The state below it was kept; a circuit that was
half-open is open, with its probe due.`,
		Example: `  cb enable deploy-api
  cb enable --all`,
	})
}

func newReset(env *Env) *cobra.Command {
	return env.newManual(manual{
		change: breaker.Circuit.Reset, tell: resetText, already: "closed already",
	}, cobra.Command{
		Use:   "reset NAME|GLOB... | --all",
		Short: "Close circuits and forget their streak and window",
		Long: `Close circuits and forget their streak and window. Totals and history are kept,
and so is an override: cb enable lifts a hold.`,
		Example: `  cb reset deploy-api
  cb reset --all`,
	})
}

// newManual completes a manual command.
func (env *Env) newManual(m manual, c cobra.Command) *cobra.Command {
	opts := &manualOptions{}
	c.GroupID = groupChange
	c.Args = cobra.ArbitraryArgs // checked together with --all
	c.ValidArgsFunction = env.completeNames
	c.RunE = func(c *cobra.Command, args []string) error { return env.manual(c, m, opts, args) }
	fs := c.Flags()
	fs.SortFlags = false
	if m.lasts != "" {
		fs.Var(duration{&opts.length}, "for", "how long it lasts (default: "+m.lasts+")")
	}
	if m.reason {
		fs.StringVar(&opts.reason, "reason", "", "a `TEXT` that says why, for those who read it later")
	}
	fs.BoolVar(&opts.all, "all", false, "every circuit of the store")
	return &c
}

// manual applies a command to all circuits that it is for. One that cannot be
// saved does not keep the others from being changed. Those that a glob or --all
// selected and that needed no change are only counted.
func (env *Env) manual(c *cobra.Command, m manual, opts *manualOptions, args []string) error {
	circuits, err := env.openStore(c)
	if err != nil {
		return err
	}
	defer circuits.Close()
	names, err := env.selected(c, circuits, args, opts.all)
	if err != nil {
		return err
	}
	given := func(name string) bool { return slices.Contains(args, name) }
	unchanged, foreign, failed := 0, 0, false
	for _, name := range names {
		_, _, found, err := circuits.Read(name)
		unseen := err == nil && !found
		switch {
		case unseen && !m.creates:
			env.sayUnknown(c.Name(), circuits, name)
			continue
		case errors.Is(err, store.ErrForeign) && !given(name):
			foreign++ // it only looks like a circuit's file
			continue
		case err != nil && !given(name):
			env.say(cannotRead(name, err) + "; it is as it was")
			failed = true
			continue
		}
		hooks, order, err := env.orderFor(name, opts)
		if err != nil {
			return err
		}
		did, err := env.apply(c, circuits, name, m, order)
		switch {
		case err != nil:
			env.say(cannotSave(name, err) + "; it is as it was")
			failed = true
		case did.changed || given(name):
			env.say(did.text)
			if unseen {
				env.hintUnseen(circuits, name)
			}
		default:
			unchanged++
		}
		if stopped := env.runHooks(name, hooks, did.before, did.after); stopped != 0 {
			return &exit{code: 128 + int(stopped), signal: stopped} // the rest is left as it was
		}
	}
	if len(names) == foreign {
		env.say(fmt.Sprintf("nothing to %s: no circuits in %s", c.Name(), circuits.Place()))
	}
	if unchanged > 0 {
		env.say(fmt.Sprintf("%s %s", circuitsWere(unchanged), m.already))
	}
	if failed {
		return &exit{code: exitTrouble}
	}
	return nil
}

// orderFor returns the order for a circuit, and its hooks. What the environment
// and the configuration set for its runs holds for it too.
func (env *Env) orderFor(name string, opts *manualOptions) (notify.Hooks, breaker.Order, error) {
	order := breaker.Order{By: env.user(), Reason: opts.reason, For: opts.length, Seed: env.Seed()}
	hooks := newHooks()
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	addHookFlags(fs, &hooks)
	fs.Var(duration{&order.Timeout}, "timeout", "")
	_, err := env.configure(fs, name)
	return hooks, order, err
}

// applied is what a manual command did to one circuit.
type applied struct {
	told
	before, after breaker.Circuit
}

func (env *Env) apply(c *cobra.Command, circuits inventory, name string, m manual, order breaker.Order) (did applied, err error) {
	err = circuits.Update(c.Context(), name, func(circuit breaker.Circuit, now time.Time) (breaker.Circuit, error) {
		order.At = now
		did.before, did.after = circuit.At(now, order.Seed), m.change(circuit, order)
		return did.after, nil
	})
	if err != nil {
		return applied{}, err //nolint:wrapcheck // manual says what it was doing
	}
	did.told = m.tell(name, did.before, did.after, order.At)
	return did, nil
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
	}
	var known []string // not needed for plain names, which may be new
	if all || slices.ContainsFunc(args, isGlob) {
		var err error
		if known, err = circuits.Names(); err != nil {
			return nil, errors.New(cannotRead(circuits.Place(), err))
		}
	}
	if all {
		return known, nil
	}
	var names []string
	for _, arg := range args {
		picked, err := pick(known, arg, circuits.Place())
		if err != nil {
			return nil, err
		}
		for _, name := range picked {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names, checkNames(names)
}
