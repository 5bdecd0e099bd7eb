package cmd

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"cb/internal/breaker"
	"cb/internal/process"
	"cb/internal/store"
)

// fallback says what stands in for a command that was refused or failed.
type fallback struct {
	commands []string // shell commands, tried in order
	cached   maxAge
	text     optionalText
	on       string
	limit    size // of held and cached output
}

// The words of --fallback-on.
const (
	onRefused = "refused"
	onFailure = "failure"
	onAny     = "any"
)

func newFallback() fallback { return fallback{on: onAny, limit: 1 << 20} }

func (f *fallback) addFlags(fs *pflag.FlagSet) {
	fs.Var((*lines)(&f.commands), "fallback", "a `'SHELL COMMAND'` to run instead; repeat it for a chain, tried in order")
	fs.Var(&f.cached, "fallback-cached", "replay the stdout of the last successful run, if not older than MAX-AGE")
	fs.Lookup("fallback-cached").NoOptDefVal = "true"
	fs.Var(&f.text, "fallback-text", "print this text")
	fs.Var(choice{&f.on, []string{onRefused, onFailure, onAny}}, "fallback-on", "when: a refused run, a failed one, or any of the two")
	fs.Var(&f.limit, "fallback-cache-limit", "most bytes of output to hold back and to keep, such as 512k or 1m")
}

func (f *fallback) given() bool {
	return len(f.commands) > 0 || f.cached.on || f.text.given
}

func (f *fallback) forRefusal() bool { return f.given() && f.on != onFailure }

// forFailure reports whether a failed command is followed by a fallback. Then
// its output is held until its outcome is known.
func (f *fallback) forFailure() bool { return f.given() && f.on != onRefused }

// stood is the fallback that stood in.
type stood struct {
	kind   string // command, cached or text
	result process.Result
}

// The kinds of fallback.
const (
	kindCommand = "command"
	kindCached  = "cached"
	kindText    = "text"
)

// standIn tries the fallbacks of a run in order until one succeeds, and
// returns nil when none did. A fallback command that somebody stopped ends the
// search: it stands, and so does one whose output could not be held. An error
// is that of writing; it ends the search too, as the next could fare no better.
func (r *run) standIn() (*stood, error) {
	f := &r.opts.fallback
	for i, line := range f.commands {
		result, out := r.fallbackCommand(line)
		switch {
		case result.Code == 0 || stoppedBySomebody(result) || out.over:
			lost := result.OutputLost
			if lost == nil {
				lost = out.release()
			}
			return &stood{kindCommand, result}, lost
		default:
			r.env.warn(fmt.Sprintf("fallback %d failed (%s)", i+1, howEnded(result)))
		}
	}
	if f.cached.on {
		if output, ok := r.cached(); ok {
			return &stood{kind: kindCached}, pass(process.Writer(r.env.Stdout), output)
		}
	}
	if f.text.given {
		text := f.text.text
		if !strings.HasSuffix(text, "\n") && text != "" {
			text += "\n"
		}
		return &stood{kind: kindText}, pass(process.Writer(r.env.Stdout), []byte(text))
	}
	return nil, nil
}

// stoppedBySomebody reports whether cb was told to stop while a fallback ran,
// or will be: ^C reaches both. Any other signal is the fallback's own failure.
func stoppedBySomebody(result process.Result) bool {
	return result.Interrupted != 0 || !result.TimedOut && result.Signal == syscall.SIGINT
}

// howEnded says in a few words how a fallback failed.
func howEnded(result process.Result) string {
	switch {
	case result.StartErr != nil:
		return result.StartErr.Error()
	case result.TimedOut:
		return "time limit"
	case result.Signal != 0:
		return fmt.Sprintf("signal %d", int(result.Signal))
	}
	return fmt.Sprintf("exit %d", result.Code)
}

// fallbackCommand runs one fallback under the signals and the time limit of
// the run. Its output is held as well: the next in the chain may have to
// answer instead.
func (r *run) fallbackCommand(line string) (process.Result, *stdout) {
	out := &stdout{out: process.Writer(r.env.Stdout), limit: int(r.opts.fallback.limit), hold: true}
	state := r.after.State.String()
	return process.Command{
		Args: process.Shell(line), Env: r.env.commandVars(r.opts.name, state, false),
		Stdin: r.env.Stdin, Stdout: r.env.Stdout, Stderr: r.env.Stderr, PipeStdout: out,
		TimeLimit: r.opts.timeLimit, KillAfter: r.opts.killAfter,
	}.Run(r.signals), out
}

// cached returns the kept output of the last successful run.
func (r *run) cached() (output []byte, ok bool) {
	output, age, found, err := r.circuits.Output(r.opts.name)
	switch {
	case err != nil:
		r.env.warn(fmt.Sprintf("cannot read the cached output of %s (%s)", r.opts.name, store.Cause(err)))
		return nil, false
	case !found || r.opts.fallback.cached.age > 0 && age > r.opts.fallback.cached.age:
		return nil, false
	}
	return output, true
}

// keep saves the output of a successful run for a later fallback.
func (r *run) keep(out *stdout, outcome breaker.Outcome) {
	if !r.opts.fallback.cached.on || outcome != breaker.Success {
		return
	}
	if out.over {
		r.env.warn(fmt.Sprintf("the output of %s is larger than --fallback-cache-limit %s and is not cached", r.opts.name, r.opts.fallback.limit.String()))
		return
	}
	r.warnIf("cache the output of "+r.opts.name, r.circuits.SaveOutput(r.opts.name, out.kept))
}

func (r *run) warnIf(what string, err error) {
	if err != nil {
		r.env.warn(fmt.Sprintf("cannot %s (%s)", what, store.Cause(err)))
	}
}

// maxAge is the value of --fallback-cached: off, on, or on up to an age.
type maxAge struct {
	on  bool
	age time.Duration // 0: any
}

func (v *maxAge) Type() string { return "MAX-AGE" }

func (v *maxAge) String() string {
	switch {
	case !v.on:
		return ""
	case v.age == 0:
		return "true"
	}
	return breaker.FormatDuration(v.age)
}

func (v *maxAge) Set(text string) error {
	if on, err := strconv.ParseBool(text); err == nil {
		*v = maxAge{on: on}
		return nil
	}
	age, err := breaker.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("must be true, false or an age such as 90s, 6h or 2d, not %q", text)
	}
	*v = maxAge{true, age}
	return nil
}

// optionalText is a text that may be empty and still be given.
type optionalText struct {
	given bool
	text  string
}

func (v *optionalText) Type() string   { return "TEXT" }
func (v *optionalText) String() string { return v.text }

func (v *optionalText) Set(text string) error {
	*v = optionalText{true, text}
	return nil
}
