package cmd

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cb/internal/breaker"
	"cb/internal/classify"
	"cb/internal/guard"
	"cb/internal/process"
	"cb/internal/store"
)

// run is the way of one command through its circuit.
type run struct {
	env     *Env
	opts    *runOptions
	args    []string
	signals *process.Signals // nil while a signal may still end cb at once

	circuits circuitStore
	out      *stdout // between the command's output and cb's; nil when nothing needs it

	// What has happened so far.
	ran           bool
	probe         bool
	result        process.Result
	outcome       breaker.Outcome
	before, after breaker.Circuit // around the first and the last update
	seen          bool            // that there was an update
	refused       *breaker.OpenError
	notRun        string // why the command was not started
	own           *exit  // the end without a fallback
	stood         *stood
}

func (r *run) do(c *cobra.Command) error {
	if err := r.misread(c.Flags()); err != nil {
		return err
	}
	given, err := r.env.configure(c.Flags(), r.opts.name)
	if err != nil {
		return err
	}
	if err := r.opts.validate(c.Flags(), r.args); err != nil {
		return given.explain(err)
	}
	if r.opts.policy.ProbeLimit == 0 && r.opts.timeLimit > 0 {
		r.opts.policy.ProbeLimit = r.opts.timeLimit + r.opts.killAfter + 30*time.Second
		if r.opts.hooks.HalfOpen != "" {
			r.opts.policy.ProbeLimit += r.opts.hooks.Limit // it runs first
		}
	}
	if r.circuits, err = r.env.guardedStore(c, r.opts.onStoreError); err != nil {
		return err
	}
	defer r.circuits.Close()
	if r.opts.owesAnEnd() {
		r.catch()
	}
	end := r.ended(r.guard().Run(r.signals.Context()))
	r.writeMetrics()
	r.report()
	if end.code == 0 && end.signal == 0 {
		return nil
	}
	return end
}

// owesAnEnd reports whether something is promised however the run ends, also
// when it is refused.
func (o *runOptions) owesAnEnd() bool {
	return o.resultFile != "" || o.metricsFile != "" || o.hooks.Any() || o.fallback.forRefusal()
}

// catch begins to catch signals. To set that up takes a tenth of what a
// refusal costs, so a plain one does without; it leaves nothing half done. They
// stay caught until the process ends: a closed stderr must not kill it.
func (r *run) catch() {
	if r.signals == nil {
		r.signals = process.Catch()
	}
}

func (r *run) guard() guard.Guard {
	return guard.Guard{
		Store:      r.circuits,
		Name:       r.opts.name,
		Policy:     r.opts.policy,
		Caller:     r.env.caller(),
		Seed:       r.env.Seed,
		MustRecord: r.opts.onStoreError == storeErrorRefuse,
		Permitted:  r.catch,
		Command:    r.command,
		Changed:    r.changed,
		Warn: func(trouble error, consequence string) {
			r.env.warnStore(r.opts.name, trouble, consequence)
		},
	}
}

// changed tells of what an update has changed.
func (r *run) changed(before, after breaker.Circuit, now time.Time) {
	if !r.seen {
		r.before, r.seen = before, true
	}
	r.after = after
	r.env.tellTransitions(r.opts.name, r.opts.quiet, before, after, now)
	if r.env.runHooks(r.opts.name, r.opts.hooks, before, after) != 0 {
		<-r.signals.Context().Done() // they get what the hook got: nothing more is started
	}
}

// command runs the command and judges its end.
func (r *run) command(admission guard.Admission) breaker.Call {
	args := r.args
	if r.opts.shell != "" {
		args = process.Shell(r.opts.shell)
	}
	r.ran, r.probe = true, admission.Permit.Probe != ""
	command := process.Command{
		Args: args, Env: r.env.commandVars(r.opts.name, admission.State.String(), admission.State == breaker.HalfOpen),
		Stdin: r.env.Stdin, Stdout: r.env.Stdout, Stderr: r.env.Stderr,
		TimeLimit: r.opts.timeLimit, KillAfter: r.opts.killAfter,
	}
	if token := admission.Permit.Probe; token != "" {
		command.Env = withToken(command.Env, token)
	}
	found := r.listen(&command)
	r.result = command.Run(r.signals)
	r.judge(found())
	return breaker.Call{Outcome: r.outcome, Code: r.result.Code, Took: r.result.Took}
}

// judge says what the end of the command means. Output that was held is let out
// first where no fallback may follow, as what is lost then is a failure too.
func (r *run) judge(found classify.Matches) {
	r.outcome = r.opts.rules.Outcome(r.result, found)
	if r.out != nil && r.outcome != breaker.Failure && r.result.OutputLost == nil {
		r.result.OutputLost = r.out.release()
		r.outcome = r.opts.rules.Outcome(r.result, found)
	}
	r.warnIf("write the command's output", r.result.OutputLost)
}

// listen puts cb between the command and its output, where the output rules,
// a fallback or the cache need that, and only there. It returns what tells the
// matches afterwards.
func (r *run) listen(command *process.Command) func() classify.Matches {
	f := &r.opts.fallback
	if f.forFailure() || f.cached.on {
		r.out = &stdout{out: process.Writer(r.env.Stdout), limit: int(f.limit), hold: f.forFailure()}
		command.PipeStdout = r.out
	}
	if !r.opts.rules.Reads() {
		return func() classify.Matches { return classify.Matches{} }
	}
	out, err := r.opts.rules.NewScanner(), r.opts.rules.NewScanner()
	command.PipeStderr = io.MultiWriter(err, process.Writer(r.env.Stderr)) // the rules go on where stderr is full
	if r.out != nil {
		command.PipeStdout = io.MultiWriter(r.out, out)
	} else {
		command.PipeStdout = io.MultiWriter(process.Writer(r.env.Stdout), out)
	}
	return func() classify.Matches { return out.Found().Or(err.Found()) }
}

// ended says what there is to say about the end of the run, brings in a
// fallback where one is due, and returns how cb ends.
func (r *run) ended(err error) *exit {
	end := r.ownEnd(err)
	r.own = end
	wanted := false
	switch {
	case r.signals.Stopped() != 0: // ^C, at the latest in a hook
	case r.refused != nil:
		wanted = r.opts.fallback.forRefusal()
	case r.ran: // not after a slow run, which has answered
		wanted = r.outcome == breaker.Failure && r.opts.fallback.forFailure() && r.out.hold
	}
	var lost error
	if wanted {
		r.stood, lost = r.standIn()
	}
	switch {
	case lost != nil: // what of it was printed cannot be taken back: nothing more is
		r.stood = nil
		r.env.warn(fmt.Sprintf("cannot write the fallback's output (%s)", store.Cause(lost)))
	case r.stood != nil:
		end = endOf(r.stood.result)
	case r.out != nil:
		r.warnIf("write the command's output", r.out.release())
		r.keep(r.out, r.outcome)
	}
	return end
}

// ownEnd is how cb ends without a fallback.
func (r *run) ownEnd(err error) *exit {
	var trouble *guard.StoreError
	switch {
	case err == nil:
		switch {
		case r.result.StartErr != nil:
			r.notRun = r.result.StartErr.Error()
			r.env.say(r.notRun)
			if r.opts.shell == "" && len(r.args) == 1 && strings.Contains(strings.TrimSpace(r.args[0]), " ") {
				r.env.say("hint: a line for the shell needs -c: cb run --name NAME -c 'COMMAND ARG...'")
			}
		case !r.result.Started:
			r.notRun = stoppedEarly
		}
		return endOf(r.result)
	case errors.As(err, &r.refused):
		r.notRun = strings.TrimPrefix(refusal(r.opts.name, r.refused), r.opts.name+" is ")
		if r.opts.quiet == 0 {
			r.env.say(refusal(r.opts.name, r.refused) + "; skipped" + nextTry(r.refused))
		}
		return &exit{code: r.opts.openExitCode}
	case errors.As(err, &trouble):
		r.notRun = cannotSave(r.opts.name, trouble.Err)
		r.env.say(r.notRun + "; skipped, because of --on-store-error refuse")
		return &exit{code: exitTrouble}
	}
	r.notRun = stoppedEarly
	stopped := r.signals.Stopped()
	return &exit{code: 128 + int(stopped), signal: stopped}
}

// stoppedEarly is why a command was not started after ^C or TERM.
const stoppedEarly = "told to stop before it was started"

// endOf passes the end of a command on. A command that cb itself had to end
// died of no signal that cb should die of too.
func endOf(result process.Result) *exit {
	end := &exit{code: result.Code}
	switch {
	case result.TimedOut:
	case !result.Started:
		end.signal = result.Interrupted
	default:
		end.signal = result.Signal
	}
	return end
}

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

// outerVars is cb's own environment without what a cb around it has told about
// its circuit; only the tokens of the probes around it stay.
func (env *Env) outerVars() []string {
	vars := make([]string, 0, len(env.Environ)+4)
	for _, entry := range env.Environ {
		if !strings.HasPrefix(entry, "CIRCUIT_") || strings.HasPrefix(entry, tokenVariable+"=") {
			vars = append(vars, entry)
		}
	}
	return vars
}

// commandVars is the environment of a command: cb's own, and what the command
// is told about its circuit.
func (env *Env) commandVars(name, state string, probe bool) []string {
	vars := append(env.outerVars(), "CIRCUIT_NAME="+name, "CIRCUIT_STATE="+state)
	if probe {
		vars = append(vars, "CIRCUIT_PROBE=1")
	}
	return vars
}

// withToken adds a probe's token to those that the environment carries.
func withToken(vars []string, token string) []string {
	for i, entry := range vars {
		if strings.HasPrefix(entry, tokenVariable+"=") {
			vars[i] = entry + " " + token
			return vars
		}
	}
	return append(vars, tokenVariable+"="+token)
}
