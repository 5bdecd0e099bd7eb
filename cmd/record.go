package cmd

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cb/internal/breaker"
	"cb/internal/classify"
	"cb/internal/guard"
	"cb/internal/notify"
	"cb/internal/process"
	"cb/internal/store"
)

// recordOptions are the flags of record.
type recordOptions struct {
	exitCode     string
	rules        classify.Rules // of which the codes apply to exitCode
	onStoreError string
	quiet        int
	hooks        notify.Hooks
}

func newRecord(env *Env) *cobra.Command {
	opts := &recordOptions{onStoreError: storeErrorRun, hooks: newHooks()}
	c := &cobra.Command{
		Use:   "record PERMIT|NAME success|failure|ignored",
		Short: "Record the outcome of work that was not wrapped",
		Long: `Record an outcome: with a permit of cb acquire that of the work it was for; with a
name one that was seen elsewhere, judged by the policy last used. A permit that
is late or was recorded before is a warning and changes totals only; the exit
code is 0, so that a step that always runs does not fail.

With --exit-code the outcome is what a run would make of that code: 0 is a
success, another one a failure, unless the flags about codes say otherwise.`,
		Example: `  cb record "$permit" success
  cb record "$permit" --exit-code $?
  cb record deploy-api failure`,
		GroupID:           groupRun,
		Args:              cobra.RangeArgs(0, 2),
		ValidArgsFunction: env.completeRecord,
		RunE: func(c *cobra.Command, args []string) error {
			return env.record(c, opts, args)
		},
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.StringVar(&opts.exitCode, "exit-code", "", "the `CODE` that the work ended with, instead of an outcome")
	addCodeFlags(fs, &opts.rules)
	addStoreErrorFlag(fs, &opts.onStoreError, "when the store cannot be used: run exits with 0 and a warning, refuse with 125")
	addQuietFlag(fs, &opts.quiet, "no line for a re-open; -qq: none for a transition either")
	addHookFlags(fs, &opts.hooks)
	return c
}

// completeRecord offers names first and outcomes then.
func (env *Env) completeRecord(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return env.completeNames(c, args, word)
	}
	if len(args) > 1 || c.Flags().Changed("exit-code") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return []string{"success", "failure", "ignored"}, cobra.ShellCompDirectiveNoFileComp
}

func (env *Env) record(c *cobra.Command, opts *recordOptions, args []string) error {
	call, err := opts.call(args)
	if err != nil {
		return err
	}
	p, err := readTarget(args[0])
	if err != nil {
		return err
	}
	if _, err := env.configure(c.Flags(), p.Name); err != nil {
		return err
	}
	if err := validateCodes(opts.rules); err != nil {
		return err
	}
	if call.Code != breaker.NoCode {
		call.Outcome = opts.rules.Outcome(process.Result{Code: call.Code}, classify.Matches{})
	}
	if p.Void {
		return nil
	}
	circuits, err := env.guardedStore(c, opts.onStoreError)
	if err != nil {
		return err
	}
	defer circuits.Close()
	return env.enter(c.Context(), circuits, opts, p, call)
}

// readTarget reads a permit, or makes one without a generation of a name.
func readTarget(word string) (permit, error) {
	if strings.HasPrefix(word, store.PermitPrefix) {
		return readPermit(word)
	}
	if err := store.CheckName(word); err != nil {
		return permit{}, &usageError{
			err:  fmt.Errorf("neither a permit nor a name: %w", err),
			hint: "did cb acquire refuse? its exit code was 75 then",
		}
	}
	return permit{Name: word}, nil
}

// call reads the outcome from the arguments or from --exit-code.
func (o *recordOptions) call(args []string) (breaker.Call, error) {
	hint := "cb record NAME|PERMIT success|failure|ignored, or --exit-code N"
	call := breaker.Call{Code: breaker.NoCode}
	switch {
	case len(args) == 0:
		return call, &usageError{err: fmt.Errorf("a permit or a name is missing"), hint: hint}
	case o.exitCode != "" && len(args) == 2:
		return call, &usageError{err: fmt.Errorf("--exit-code goes without an outcome, but %q is given", args[1]), hint: hint}
	case o.exitCode != "":
		code, err := strconv.ParseUint(o.exitCode, 10, 64)
		if err != nil || code > uint64(classify.MaxCode()) {
			return call, &usageError{err: fmt.Errorf("--exit-code: must be 0 to %d, not %q", classify.MaxCode(), o.exitCode)}
		}
		call.Code = int(code)
		return call, nil
	case len(args) == 1:
		return call, &usageError{err: fmt.Errorf("the outcome is missing"), hint: hint}
	}
	if err := call.Outcome.UnmarshalText([]byte(args[1])); err != nil || call.Outcome == breaker.Slow {
		return call, &usageError{err: fmt.Errorf("%q is not an outcome", args[1]), hint: hint}
	}
	return call, nil
}

// enter records the call of a permit, or of a name, whose permit is empty.
func (env *Env) enter(ctx context.Context, circuits circuitStore, opts *recordOptions, p permit, call breaker.Call) error {
	failed := false
	var before, after breaker.Circuit
	g := guard.Guard{
		Store: circuits, Name: p.Name, Policy: p.Policy, Seed: env.Seed,
		Changed: func(was, is breaker.Circuit, now time.Time) {
			before, after = was.At(now, 0), is
			env.tellTransitions(p.Name, opts.quiet, was, is, now)
			env.runHooks(p.Name, opts.hooks, was, is)
		},
		Warn: func(trouble error, _ string) {
			env.warnStore(p.Name, trouble, "the outcome is not recorded")
			failed = true
		},
	}
	named := p.Permit == (breaker.Permit{})
	if named {
		g.Observe(ctx, call)
	} else {
		g.Judge = p.timed
		g.Record(ctx, p.Permit, call)
	}
	switch late := after.Totals.Late > before.Totals.Late; {
	case named && late:
		env.warn(fmt.Sprintf("%s is half-open, and only a permit can answer its probe; only totals count this outcome", p.Name))
	case named && opts.quiet == 0 && (before.State == breaker.Open || before.Override.Kind == breaker.Disabled):
		env.say(fmt.Sprintf("%s is %s; only totals count this outcome", p.Name, before.Shown()))
	case late:
		env.warn(fmt.Sprintf("this result of %s is late: the circuit has changed since, or it was recorded before; only totals count it", p.Name))
	case failed && opts.onStoreError == storeErrorRefuse:
		return &exit{code: exitTrouble}
	}
	return nil
}

// timed adds how long the work took, as far as the store's clock tells.
func (p permit) timed(call breaker.Call) breaker.Call {
	call.Took = max(0, call.At.Sub(p.At))
	if p.SlowAfter > 0 && call.Took > p.SlowAfter && call.Outcome == breaker.Success {
		call.Outcome = breaker.Slow
	}
	return call
}
