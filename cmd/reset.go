package cmd

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"cb/internal/breaker"
	"cb/internal/render"
	"cb/internal/store"
)

func newReset(env *Env) *cobra.Command {
	all := false
	c := &cobra.Command{
		Use:   "reset NAME... | --all",
		Short: "Close circuits and forget their streak and window",
		Long: `Close circuits and forget their streak and window. Totals and history are kept,
and so is an override: cb enable lifts a hold.`,
		Example: `  cb reset deploy-api
  cb reset --all`,
		GroupID:           groupChange,
		Args:              cobra.ArbitraryArgs, // checked together with --all
		ValidArgsFunction: env.completeNames,
		RunE: func(c *cobra.Command, args []string) error {
			return env.reset(c, args, all)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "every circuit of the store")
	return c
}

func (env *Env) reset(c *cobra.Command, names []string, all bool) error {
	circuits, err := env.openStore(c)
	if err != nil {
		return err
	}
	if names, err = selectNames(circuits, names, all); err != nil {
		return err
	}
	if all && len(names) == 0 {
		env.say("nothing to reset: no circuits in " + circuits.Path)
	}
	for _, name := range names {
		before, at, err := env.change(c, circuits, name, breaker.Circuit.Reset, breaker.Order{})
		if err != nil {
			return err
		}
		env.say(resetText(name, before, at, circuits.Path))
	}
	return nil
}

// selectNames returns the names that a manual command is for.
func selectNames(circuits *store.Dir, names []string, all bool) ([]string, error) {
	switch {
	case all && len(names) > 0:
		return nil, &usageError{err: fmt.Errorf("--all goes without names, but %q is given", names[0])}
	case all:
		known, err := circuits.Names()
		if err != nil {
			return nil, fmt.Errorf("cannot read %s (%s)", circuits.Path, store.Cause(err))
		}
		return known, nil
	case len(names) == 0:
		return nil, &usageError{
			err:  fmt.Errorf("which circuit? name one, or give --all"),
			hint: "cb status lists them",
		}
	}
	return names, checkNames(names)
}

// change applies a manual command to a circuit and returns what it was before,
// and when. A circuit that was never seen stays so: before is its zero value.
func (env *Env) change(c *cobra.Command, circuits *store.Dir, name string,
	command func(breaker.Circuit, breaker.Order) breaker.Circuit, order breaker.Order,
) (before breaker.Circuit, at time.Time, err error) {
	if _, at, found, err := circuits.Read(name); err == nil && !found {
		return breaker.Circuit{}, at, nil
	}
	order.By, order.Seed = env.user(), env.Seed()
	err = circuits.Update(c.Context(), name, func(circuit breaker.Circuit, now time.Time) (breaker.Circuit, error) {
		before, at, order.At = circuit, now, now
		return command(circuit, order), nil
	})
	if err != nil {
		return before, at, fmt.Errorf("cannot save %s (%s)", name, store.Cause(err))
	}
	return before, at, nil
}

func resetText(name string, before breaker.Circuit, at time.Time, place string) string {
	text := ""
	switch {
	case before.Generation == 0:
		return fmt.Sprintf("nothing to reset: no circuit is called %q in %s", name, place)
	case before.State != breaker.Closed:
		text = fmt.Sprintf("%s closed: reset after %s%s", name, render.Span(at.Sub(before.OpenedAt)), skipped(before.Skipped))
	case before.Streak > 0:
		text = fmt.Sprintf("%s was closed; its failures in a row (%d) are forgotten", name, before.Streak)
	default:
		text = name + " was closed already"
	}
	if before.Override.Kind != breaker.NoOverride {
		text += fmt.Sprintf("; it is still %s: cb enable lifts that", before.Override.Kind)
	}
	return text
}
