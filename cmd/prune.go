package cmd

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"cb/internal/breaker"
	"cb/internal/store"
)

// pruneOptions are the flags of prune.
type pruneOptions struct {
	olderThan time.Duration
	dryRun    bool
}

func newPrune(env *Env) *cobra.Command {
	opts := &pruneOptions{}
	c := &cobra.Command{
		Use:   "prune --older-than D",
		Short: "Forget idle closed circuits",
		Long: `Forget circuits that are closed and to which nothing has happened for longer than
--older-than, with all their files. Circuits that are open, half-open, held or
disabled are kept. What crashes and forgotten circuits have left behind is
removed too; copies of damaged circuits only when they are older than that.`,
		Example: `  cb prune --older-than 90d
  cb prune --older-than 30d --dry-run`,
		GroupID:           groupChange,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			return env.prune(c, opts)
		},
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.Var(duration{&opts.olderThan}, "older-than", "how long nothing has happened (required)")
	fs.BoolVar(&opts.dryRun, "dry-run", false, "tell what would be forgotten, and change nothing")
	return c
}

func (env *Env) prune(c *cobra.Command, opts *pruneOptions) error {
	if opts.olderThan == 0 {
		return &usageError{err: fmt.Errorf("--older-than is missing"), hint: "cb prune --older-than 90d"}
	}
	circuits, err := env.openStore(c)
	if err != nil {
		return err
	}
	defer circuits.Close()
	names, err := circuits.Names()
	if err != nil {
		return fmt.Errorf("cannot read %s (%s)", circuits.Place(), store.Cause(err))
	}
	idle := func(circuit breaker.Circuit, now time.Time) bool {
		circuit = circuit.At(now, 0)
		return circuit.Shown() == breaker.Closed.String() && now.Sub(circuit.LastEvent()) > opts.olderThan
	}
	forgotten, failed := 0, false
	for _, name := range names {
		removed, err := env.pruneOne(c, circuits, name, idle, opts.dryRun)
		switch {
		case errors.Is(err, store.ErrForeign): // it only looks like a circuit's file
		case err != nil:
			env.warn(fmt.Sprintf("cannot remove %s (%s)", name, store.Cause(err)))
			failed = true
		case removed && opts.dryRun:
			env.say(name + " would be forgotten")
		case removed:
			env.say(name + " is forgotten")
		}
		if removed {
			forgotten++
		}
	}
	swept, err := env.sweep(circuits, opts)
	if err != nil {
		env.warn(fmt.Sprintf("cannot remove what crashes left behind (%s)", store.Cause(err)))
		failed = true
	}
	if forgotten+swept == 0 && !failed {
		env.say(fmt.Sprintf("nothing to forget: no closed circuit has been idle for more than %s", breaker.FormatDuration(opts.olderThan)))
	}
	if failed {
		return &exit{code: exitTrouble}
	}
	return nil
}

// sweep removes what belongs to no circuit, from a store that can have such
// things, and returns how much that was.
func (env *Env) sweep(circuits inventory, opts *pruneOptions) (int, error) {
	sweeper, ok := circuits.(interface {
		Sweep(age time.Duration, dryRun bool) ([]store.Leftover, error)
	})
	if !ok {
		return 0, nil
	}
	leftovers, err := sweeper.Sweep(opts.olderThan, opts.dryRun)
	verb := "removed"
	if opts.dryRun {
		verb = "would remove"
	}
	for _, one := range leftovers {
		env.say(fmt.Sprintf("%s %s, %s", verb, one.File, one.Was))
	}
	return len(leftovers), err //nolint:wrapcheck // prune says what it was doing
}

func (env *Env) pruneOne(c *cobra.Command, circuits inventory, name string, idle func(breaker.Circuit, time.Time) bool, dryRun bool) (bool, error) {
	if !dryRun {
		return circuits.Remove(c.Context(), name, idle) //nolint:wrapcheck // prune says what it was doing
	}
	circuit, now, found, err := circuits.Read(name)
	return err == nil && found && idle(circuit, now), err //nolint:wrapcheck // the same
}
