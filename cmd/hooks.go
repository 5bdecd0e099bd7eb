package cmd

import (
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"cb/internal/breaker"
	"cb/internal/notify"
)

func newHooks() notify.Hooks { return notify.Hooks{Limit: 10 * time.Second} }

// addHookFlags binds what is run at transitions. An empty command is none, so
// that a flag can turn off what the environment or the configuration names.
func addHookFlags(fs *pflag.FlagSet, h *notify.Hooks) {
	fs.StringVar(&h.Open, "on-open", "", "a `'SHELL COMMAND'` to run when the circuit opens, once per outage")
	fs.StringVar(&h.Close, "on-close", "", "a `'SHELL COMMAND'` to run when it closes")
	fs.StringVar(&h.HalfOpen, "on-half-open", "", "a `'SHELL COMMAND'` to run when it becomes half-open, before the probe")
	fs.Var(duration{&h.Limit}, "hook-limit", "end such a command, and all that it started, after this long")
}

// runHooks runs the hooks of a circuit for what one update has changed, once
// the state is in place. It returns the signal by which cb was told to stop
// meanwhile; 0 is none.
func (env *Env) runHooks(name string, hooks notify.Hooks, before, after breaker.Circuit) (stopped syscall.Signal) {
	if len(breaker.Between(before, after)) == 0 {
		return 0
	}
	return hooks.Run(notify.Change{
		Name: name, Before: before, After: after,
		Environ: env.outerVars(), Output: env.Stderr, Warn: env.warn,
	})
}
