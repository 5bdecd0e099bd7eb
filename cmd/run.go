package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cb/internal/breaker"
	"cb/internal/classify"
	"cb/internal/guard"
	"cb/internal/process"
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
	quiet        int
	openExitCode int
}

// The words of --on-store-error.
const (
	storeErrorRun    = "run"
	storeErrorRefuse = "refuse"
)

func newRun(env *Env) *cobra.Command {
	opts := &runOptions{
		policy:       breaker.Default(),
		onStoreError: storeErrorRun,
		killAfter:    10 * time.Second,
		openExitCode: exitRefused,
	}
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
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
		RunE: func(c *cobra.Command, args []string) error {
			// Not closed: until the process ends a closed stderr must not kill it.
			return env.run(c, opts, args, process.Catch())
		},
	}
	fs := c.Flags()
	fs.SetInterspersed(false) // everything after COMMAND belongs to it
	fs.SortFlags = false
	fs.StringVar(&opts.name, "name", "", "the circuit's `NAME` (required)")
	addStoreErrorFlag(fs, &opts.onStoreError)
	addTripFlags(fs, &opts.policy, &opts.rules.SlowAfter)
	addRecoverFlags(fs, &opts.policy)
	opts.addCommandFlags(fs)
	fs.CountVarP(&opts.quiet, "quiet", "q", "no line for a refusal or a re-open; -qq: none for a transition either``")
	fs.Var(count{&opts.openExitCode, 0, 255}, "open-exit-code", "exit code of a refusal")
	completeChoices(c, "on-store-error", storeErrorRun, storeErrorRefuse)
	return c
}

func addStoreErrorFlag(fs *pflag.FlagSet, word *string) {
	fs.Var(choice{word, []string{storeErrorRun, storeErrorRefuse}}, "on-store-error", "when the store cannot be used: run the command, or refuse with 125")
}

func (o *runOptions) addCommandFlags(fs *pflag.FlagSet) {
	fs.VarP(line{&o.shell}, "shell", "c", "run a `'SHELL COMMAND'` through sh -c instead of COMMAND")
	fs.Var(duration{&o.timeLimit}, "time-limit", "the command's own limit: end it after this long, and count a failure")
	fs.Var(duration{&o.killAfter}, "kill-after", "kill it when it has not ended this long after that")
	fs.Var(&o.rules.Success, "success-codes", "exit codes that are successes besides 0, such as 1,3,64-78")
	fs.Var(&o.rules.Ignore, "ignore-codes", "exit codes that count neither way")
	fs.Var(&o.rules.Failure, "failure-codes", "the only exit codes that are failures; others count neither way")
	fs.BoolVar(&o.rules.CountInterrupts, "count-interrupts", false, "count a run that was told to stop like any other")
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
	lists := []struct {
		flag  string
		codes classify.Codes
	}{{"success-codes", o.rules.Success}, {"ignore-codes", o.rules.Ignore}, {"failure-codes", o.rules.Failure}}
	for i, a := range lists {
		if a.flag != "success-codes" && a.codes.Has(0) {
			return wrong("", "--%s: 0 is always a success", a.flag)
		}
		for _, b := range lists[i+1:] {
			if code, shared := a.codes.Shared(b.codes); shared {
				return wrong("a code can mean one thing only", "--%s and --%s both name %d", a.flag, b.flag, code)
			}
		}
	}
	return validatePolicy(fs, &o.policy)
}

// validatePolicy checks a policy that was bound to flags. A failure rate
// stands for itself: the default threshold does not go with it.
func validatePolicy(fs *pflag.FlagSet, p *breaker.Policy) error {
	if p.FailureRate > 0 && !fs.Changed("threshold") {
		p.Threshold = 0
	}
	if err := p.Validate(); err != nil {
		return &usageError{err: err, hint: "cb help states explains the rules"}
	}
	return nil
}

// run is the way of one command through its circuit.
func (env *Env) run(c *cobra.Command, opts *runOptions, args []string, signals *process.Signals) error {
	if err := env.applyTwins(c.Flags()); err != nil {
		return err
	}
	if err := opts.validate(c.Flags(), args); err != nil {
		return err
	}
	if opts.policy.ProbeLimit == 0 && opts.timeLimit > 0 {
		opts.policy.ProbeLimit = opts.timeLimit + opts.killAfter + 30*time.Second
	}
	circuits, err := env.runStore(c, opts)
	if err != nil {
		return err
	}
	defer circuits.Close()

	var result process.Result
	g := guard.Guard{
		Store:      circuits,
		Name:       opts.name,
		Policy:     opts.policy,
		Caller:     env.caller(),
		Seed:       env.Seed,
		MustRecord: opts.onStoreError == storeErrorRefuse,
		Command: func(admission guard.Admission) breaker.Call {
			result = env.command(opts, args, admission).Run(signals)
			return breaker.Call{Outcome: opts.rules.Outcome(result), Code: result.Code, Took: result.Took}
		},
		Changed: func(before, after breaker.Circuit, now time.Time) {
			env.tellTransitions(opts.name, opts.quiet, before, after, now)
		},
		Warn: func(trouble error, consequence string) { env.warnStore(opts.name, trouble, consequence) },
	}
	if err := g.Run(signals.Context()); err != nil {
		return env.notRun(opts, err, signals)
	}
	return env.ended(result)
}

// runStore opens the store. When none can be found the command must run all
// the same, so that is trouble like any other.
func (env *Env) runStore(c *cobra.Command, opts *runOptions) (circuitStore, error) {
	dir, err := env.openStore(c)
	switch {
	case isUsage(err):
		return nil, err
	case err != nil:
		return noStore{err}, nil
	}
	dir.Prove = opts.onStoreError == storeErrorRefuse
	return dir, nil
}

// circuitStore is the store of a run.
type circuitStore interface {
	guard.Store
	Close() error
}

// noStore stands for a store that cannot be found.
type noStore struct{ err error }

func (s noStore) Update(context.Context, string, func(breaker.Circuit, time.Time) (breaker.Circuit, error)) error {
	return s.err
}

func (s noStore) Read(string) (breaker.Circuit, time.Time, bool, error) {
	return breaker.Circuit{}, time.Time{}, false, s.err
}

func (s noStore) Close() error { return nil }

// tokenVariable carries the tokens of the probes that a command runs under,
// innermost last, so that a script under probe may call cb with the same name.
const tokenVariable = "CIRCUIT_PROBE_TOKEN"

func (env *Env) caller() breaker.Caller {
	host, _ := env.Hostname()
	return breaker.Caller{
		PID: env.PID, Host: host, Leased: true,
		Tokens: strings.Fields(env.getenv(tokenVariable)),
	}
}

// command describes the command and what it is told about its circuit.
func (env *Env) command(opts *runOptions, args []string, admission guard.Admission) process.Command {
	if opts.shell != "" {
		args = process.Shell(opts.shell)
	}
	var vars []string
	for _, entry := range env.Environ {
		if !strings.HasPrefix(entry, "CIRCUIT_") || strings.HasPrefix(entry, tokenVariable+"=") {
			vars = append(vars, entry)
		}
	}
	vars = append(vars, "CIRCUIT_NAME="+opts.name, "CIRCUIT_STATE="+admission.State.String())
	if admission.State == breaker.HalfOpen {
		vars = append(vars, "CIRCUIT_PROBE=1")
	}
	if token := admission.Permit.Probe; token != "" {
		tokens := append(strings.Fields(env.getenv(tokenVariable)), token)
		vars = append(vars, tokenVariable+"="+strings.Join(tokens, " "))
	}
	return process.Command{
		Args: args, Env: vars,
		Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stderr,
		TimeLimit: opts.timeLimit, KillAfter: opts.killAfter,
	}
}

// notRun explains why the command was not run.
func (env *Env) notRun(opts *runOptions, err error, signals *process.Signals) error {
	var refused *breaker.OpenError
	var trouble *guard.StoreError
	switch {
	case errors.As(err, &refused):
		if opts.quiet == 0 {
			env.say(refusal(opts.name, refused) + "; skipped" + nextTry(refused))
		}
		return &exit{code: opts.openExitCode}
	case errors.As(err, &trouble):
		env.say(fmt.Sprintf("cannot save %s (%s); skipped, because of --on-store-error refuse", opts.name, store.Cause(trouble.Err)))
		return &exit{code: exitTrouble}
	}
	stopped := signals.Stopped()
	return &exit{code: 128 + int(stopped), signal: stopped}
}

// ended passes the command's end on.
func (env *Env) ended(result process.Result) error {
	if result.StartErr != nil {
		env.say(result.StartErr.Error())
	}
	end := &exit{code: result.Code}
	if !result.TimedOut {
		end.signal = result.Signal
		if !result.Started && result.Interrupted != 0 {
			end.signal = result.Interrupted
		}
	}
	if end.code == 0 && end.signal == syscall.Signal(0) {
		return nil
	}
	return end
}
