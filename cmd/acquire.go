package cmd

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cb/internal/breaker"
	"cb/internal/guard"
	"cb/internal/notify"
	"cb/internal/process"
	"cb/internal/store"
)

// acquireOptions are the flags of acquire.
type acquireOptions struct {
	onStoreError string
	policy       breaker.Policy
	slowAfter    time.Duration
	openExitCode int
	quiet        int
	hooks        notify.Hooks
}

func newAcquire(env *Env) *cobra.Command {
	opts := &acquireOptions{
		policy: breaker.Default(), onStoreError: storeErrorRun, openExitCode: exitRefused,
		hooks: newHooks(),
	}
	c := &cobra.Command{
		Use:   "acquire NAME",
		Short: "Ask for a permit, for work that cannot be wrapped",
		Long: `Ask for leave to do work that cb run cannot wrap, such as the steps of a CI job.
When it is permitted a permit is printed, one word, and cb record takes it back
with the outcome. When it is refused the exit code is 75. The rules that are
given here are part of the permit. A probe that is not recorded within
--probe-limit gives its slot to another.`,
		Example: `  permit=$(cb acquire deploy-api --threshold 3) || exit $?
  ./deploy.sh; cb record "$permit" --exit-code $?`,
		GroupID:           groupRun,
		Args:              oneName,
		ValidArgsFunction: once(env.completeNames),
		RunE: func(c *cobra.Command, args []string) error {
			return env.acquire(c, opts, args[0])
		},
	}
	fs := c.Flags()
	fs.SortFlags = false
	addStoreErrorFlag(fs, &opts.onStoreError, "when the store cannot be used: run gives a permit whose record does nothing, refuse gives none (125)")
	addTripFlags(fs, &opts.policy, &opts.slowAfter)
	addRecoverFlags(fs, &opts.policy)
	addRefusalFlags(fs, &opts.quiet, &opts.openExitCode)
	addHookFlags(fs, &opts.hooks)
	return c
}

// addRefusalFlags binds what concerns a refusal.
func addRefusalFlags(fs *pflag.FlagSet, quiet, openExitCode *int) {
	addQuietFlag(fs, quiet, "no line for a refusal or a re-open; -qq: none for a transition either")
	fs.Var(count{openExitCode, 0, 255}, "open-exit-code", "exit code of a refusal")
}

func (env *Env) acquire(c *cobra.Command, opts *acquireOptions, name string) error {
	given, err := env.configure(c.Flags(), name)
	if err != nil {
		return err
	}
	if err := validatePolicy(c.Flags(), &opts.policy); err != nil {
		return given.explain(err)
	}
	circuits, err := env.guardedStore(c, opts.onStoreError)
	if err != nil {
		return err
	}
	defer circuits.Close()
	who := env.caller()
	who.Leased, who.Ticket = false, true
	taken := permit{Name: name, Policy: opts.policy, SlowAfter: opts.slowAfter}
	g := guard.Guard{
		Store: circuits, Name: name, Policy: opts.policy, Caller: who, Seed: env.Seed,
		MustRecord: opts.onStoreError == storeErrorRefuse,
		Changed: func(before, after breaker.Circuit, now time.Time) {
			taken.At = now
			env.tellTransitions(name, opts.quiet, before, after, now)
			env.runHooks(name, opts.hooks, before, after)
		},
	}
	told := func(string) {}
	g.Warn = func(trouble error, consequence string) {
		told = func(instead string) { env.warnStore(name, trouble, orElse(instead, consequence)) }
	}
	admission, err := g.Admit(c.Context())
	if admission.Unrecorded {
		told("a permit is given, and recording it does nothing")
	} else {
		told("")
	}
	if err != nil {
		return env.notAcquired(opts, name, err)
	}
	taken.Permit = admission.Permit
	taken.Void = admission.Unrecorded || admission.Permit.Through
	word, err := taken.word()
	if err != nil {
		return err
	}
	if _, err := io.WriteString(process.Writer(env.Stdout), word+"\n"); err != nil {
		if !taken.Void { // nobody has it: a probe's slot must not wait for --probe-limit
			g.Record(c.Context(), taken.Permit, breaker.Call{Outcome: breaker.Ignored, Code: breaker.NoCode})
		}
		return fmt.Errorf("cannot write the permit (%s); it is given back", store.Cause(err))
	}
	return nil
}

func (env *Env) notAcquired(opts *acquireOptions, name string, err error) error {
	var refused *breaker.OpenError
	if errors.As(err, &refused) {
		if opts.quiet == 0 {
			env.say(refusal(name, refused) + "; no permit" + nextTry(refused))
		}
		return &exit{code: opts.openExitCode}
	}
	return errors.New(cannotSave(name, err) + "; no permit, because of --on-store-error refuse")
}
