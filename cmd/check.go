package cmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"cb/internal/breaker"
	"cb/internal/store"
)

// checkOptions are the flags of check.
type checkOptions struct {
	onStoreError string
	quiet        int
}

func newCheck(env *Env) *cobra.Command {
	opts := &checkOptions{onStoreError: storeErrorRun}
	c := &cobra.Command{
		Use:   "check NAME",
		Short: "Tell whether a run would be permitted now, and change nothing",
		Long: `Tell whether a run would be permitted now: exit code 0 when it would, 75 when
not, with one line that says why. Nothing is changed or counted. A name that was
never seen is a closed circuit.`,
		Example: `  if cb check deploy-api; then ./deploy.sh; fi
  ExecCondition=cb check backup`,
		GroupID:           groupRun,
		Args:              oneName,
		ValidArgsFunction: once(env.completeNames),
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := env.configure(c.Flags(), args[0]); err != nil {
				return err
			}
			return env.check(c, opts, args[0])
		},
	}
	addStoreErrorFlag(c.Flags(), &opts.onStoreError, "when the store cannot be read: run exits with 0 and a warning, refuse with 125")
	addQuietFlag(c.Flags(), &opts.quiet, "no line, only the exit code")
	return c
}

func (env *Env) check(c *cobra.Command, opts *checkOptions, name string) error {
	circuits, err := env.openStore(c)
	if isUsage(err) {
		return err
	}
	var circuit breaker.Circuit
	now := env.Clock().Wall
	if err == nil {
		defer circuits.Close()
		circuit, now, _, err = circuits.Read(name)
	}
	if err != nil && opts.onStoreError == storeErrorRefuse {
		return fmt.Errorf("cannot read %s (%s)", name, store.Cause(err))
	}
	if err != nil {
		env.warn(fmt.Sprintf("cannot read %s (%s); a run would be permitted", name, store.Cause(err)))
		return nil
	}
	var refused *breaker.OpenError
	_, _, answer := circuit.Admit(breaker.Default(), now, env.caller(), env.Seed())
	if !errors.As(answer, &refused) {
		return nil
	}
	if opts.quiet == 0 {
		env.say(refusal(name, refused) + nextTry(refused))
	}
	return &exit{code: exitRefused}
}
