package cmd

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cb/internal/breaker"
	"cb/internal/classify"
	"cb/internal/notify"
	"cb/internal/store"
)

// runOptions are the flags of run.
type runOptions struct {
	name         string
	onStoreError string
	policy       breaker.Policy
	rules        classify.Rules
	shell        string
	timeLimit    time.Duration
	killAfter    time.Duration
	fallback     fallback
	quiet        int
	openExitCode int
	resultFile   string
	hooks        notify.Hooks
	metricsFile  string
}

// The words of --on-store-error.
const (
	storeErrorRun    = "run"
	storeErrorRefuse = "refuse"
)

// newRunOptions returns the defaults.
func newRunOptions() *runOptions {
	return &runOptions{
		policy:       breaker.Default(),
		onStoreError: storeErrorRun,
		killAfter:    10 * time.Second,
		fallback:     newFallback(),
		openExitCode: exitRefused,
		hooks:        newHooks(),
	}
}

func newRun(env *Env) *cobra.Command {
	opts := newRunOptions()
	c := &cobra.Command{
		Use:   "run [flags] --name NAME [--] COMMAND [ARG...]",
		Short: "Run a command through a circuit",
		Long: `Run a command through a circuit. While the circuit is closed the command runs as
if cb were not there; its exit code is cb's. After --threshold failures in a row
the circuit opens: the command is skipped with one line on stderr and exit code
75. After --timeout one run is let through as a probe; its success closes the
circuit, its failure opens it again.

--timeout is the circuit's open period. The command's own limit is --time-limit.`,
		Example: `  cb run --name deploy-api --threshold 3 --timeout 30s -- curl -fsS https://api.example.com/deploy
  cb run --name backup --time-limit 90m --backoff 2 -- restic backup /home
  cb run --name report -c 'psql -f report.sql | gzip > report.gz'`,
		GroupID:           groupRun,
		Args:              cobra.ArbitraryArgs, // the command's
		ValidArgsFunction: env.completeCommand,
		RunE: func(c *cobra.Command, args []string) error {
			r := &run{env: env, opts: opts, args: args}
			return r.do(c)
		},
	}
	c.Flags().SetInterspersed(false) // everything after COMMAND belongs to it
	opts.addFlags(c.Flags())
	return c
}

func (o *runOptions) addFlags(fs *pflag.FlagSet) {
	fs.SortFlags = false
	fs.StringVar(&o.name, "name", "", "the circuit's `NAME` (required)")
	addStoreErrorFlag(fs, &o.onStoreError, "when the store cannot be used: run the command, or refuse with 125")
	addTripFlags(fs, &o.policy, &o.rules.SlowAfter)
	addRecoverFlags(fs, &o.policy)
	o.addCommandFlags(fs)
	o.fallback.addFlags(fs)
	addRefusalFlags(fs, &o.quiet, &o.openExitCode)
	fs.Var(line{&o.resultFile}, "result-file", "write what happened to this `FILE`, as JSON")
	addHookFlags(fs, &o.hooks)
	fs.Var(line{&o.metricsFile}, "metrics-file", "write the metrics of all circuits to this `FILE`, for Prometheus")
}

func addStoreErrorFlag(fs *pflag.FlagSet, word *string, usage string) {
	fs.Var(choice{word, []string{storeErrorRun, storeErrorRefuse}}, "on-store-error", usage)
}

func (o *runOptions) addCommandFlags(fs *pflag.FlagSet) {
	fs.VarP(line{&o.shell}, "shell", "c", "run a `'SHELL COMMAND'` through sh -c instead of COMMAND")
	fs.Var(duration{&o.timeLimit}, "time-limit", "the command's own limit: end it after this long, and count a failure")
	fs.Var(duration{&o.killAfter}, "kill-after", "kill it when it has not ended this long after that")
	addCodeFlags(fs, &o.rules)
	fs.Var(&o.rules.FailureOutput, "failure-output", "a line of output that matches makes the run a failure")
	fs.Var(&o.rules.IgnoreOutput, "ignore-output", "a line of output that matches makes a failed run count neither way")
	fs.Var((*truth)(&o.rules.CountInterrupts), "count-interrupts", "count a run that was told to stop like any other")
	fs.Lookup("count-interrupts").NoOptDefVal = "true"
}

// addCodeFlags binds the rules about exit codes.
func addCodeFlags(fs *pflag.FlagSet, rules *classify.Rules) {
	fs.Var(&rules.Success, "success-codes", "exit codes that are successes besides 0, such as 1,3,64-78")
	fs.Var(&rules.Ignore, "ignore-codes", "exit codes that count neither way")
	fs.Var(&rules.Failure, "failure-codes", "the only exit codes that are failures; others count neither way")
}

// validate finds what single values cannot show.
func (o *runOptions) validate(fs *pflag.FlagSet, args []string) error {
	wrong := func(hint, format string, args ...any) error {
		return &usageError{err: fmt.Errorf(format, args...), hint: hint}
	}
	if o.name == "" {
		return wrong("name the circuit: cb run --name NAME -- COMMAND", "--name is missing")
	}
	if err := store.CheckName(o.name); err != nil {
		return wrong("", "--name: %w", err)
	}
	switch {
	case o.shell == "" && len(args) == 0:
		return wrong("cb run --name "+o.name+" -- COMMAND", "the command to run is missing")
	case o.shell != "" && len(args) > 0:
		return wrong("put all of it into -c, or leave -c out", "-c takes the whole command; %q is left over", args[0])
	case len(args) > 0 && args[0] == "":
		return wrong("", "the command to run is an empty word")
	}
	return o.validateRules(fs)
}

// validateRules finds rules that cannot stand beside each other.
func (o *runOptions) validateRules(fs *pflag.FlagSet) error {
	if err := validateCodes(o.rules); err != nil {
		return err
	}
	return validatePolicy(fs, &o.policy)
}

func validateCodes(rules classify.Rules) error {
	lists := []struct {
		flag  string
		codes classify.Codes
	}{{"success-codes", rules.Success}, {"ignore-codes", rules.Ignore}, {"failure-codes", rules.Failure}}
	for i, a := range lists {
		if a.flag != "success-codes" && a.codes.Has(0) {
			return &usageError{err: fmt.Errorf("--%s: 0 is always a success", a.flag)}
		}
		for _, b := range lists[i+1:] {
			if code, shared := a.codes.Shared(b.codes); shared {
				return &usageError{
					err:  fmt.Errorf("--%s and --%s both name %d", a.flag, b.flag, code),
					hint: "a code can mean one thing only",
				}
			}
		}
	}
	return nil
}

// validatePolicy checks a policy that was bound to flags. A failure rate
// stands for itself: the default threshold does not go with it.
func validatePolicy(fs *pflag.FlagSet, p *breaker.Policy) error {
	if p.FailureRate > 0 && !fs.Changed("threshold") {
		p.Threshold = 0
	}
	if err := p.Validate(); err != nil {
		if !fs.Changed("threshold") {
			given := fmt.Sprintf("--threshold %d ", p.Threshold)
			err = errors.New(strings.Replace(err.Error(), given, given+"(the default) ", 1))
		}
		return &usageError{err: err, hint: "cb help states explains the rules"}
	}
	return nil
}
