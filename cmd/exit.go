package cmd

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"cb/internal/process"
	"cb/internal/render"
	"cb/internal/store"
)

// The exit codes that are cb's own; every other is the command's.
const (
	exitRefused = 75  // EX_TEMPFAIL
	exitTrouble = 125 // as env, nohup and timeout have it
)

// exitCodes is the one table of exit codes: for help, README and man page.
func exitCodes() [][2]string {
	return [][2]string{
		{"any", "the command's own"},
		{"75", "refused: circuit open, held, or its probe is taken (EX_TEMPFAIL)"},
		{"124", "time limit reached (137 if it had to be killed)"},
		{"125", "cb itself failed or was misused"},
		{"126 / 127", "the command could not be run / was not found"},
		{"128+n", "the command died of signal n; cb then dies of it too"},
	}
}

// exit is the end of a command that has said all there is to say.
type exit struct {
	code   int
	signal syscall.Signal // when not 0, cb dies of it
}

func (e *exit) Error() string { return fmt.Sprintf("exit %d", e.code) }

// usageError is a mistake in the command line, the environment or a file.
type usageError struct {
	err  error
	hint string
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// conclude turns the end of a command into an exit code. It is the only place
// where an error is printed.
func (env *Env) conclude(err error) int {
	var end *exit
	var wrong *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &end):
		if end.signal != 0 {
			env.Raise(end.signal)
		}
		return end.code
	case errors.Is(err, syscall.EPIPE):
		return exitTrouble // a reader such as head has gone away; there is nobody to tell
	case errors.As(err, &wrong):
		env.say(wrong.Error())
		if wrong.hint != "" {
			env.say("hint: " + wrong.hint)
		}
	default:
		env.say(err.Error())
	}
	return exitTrouble
}

// say writes one line for people. That it cannot be written changes nothing.
func (env *Env) say(line string) {
	_, _ = io.WriteString(process.Writer(env.Stderr), "cb: "+render.Safe(line)+"\n")
}

// warn says it and keeps it for the result file.
func (env *Env) warn(message string) {
	env.say("warning: " + message)
	env.warnings = append(env.warnings, render.Safe(message))
}

// warnStore tells of trouble with the store and what follows from it.
func (env *Env) warnStore(name string, trouble error, consequence string) {
	env.warn(cannotSave(name, trouble) + "; " + consequence)
}

// cannotSave says why a circuit was not changed.
func cannotSave(name string, trouble error) string {
	if errors.Is(trouble, store.ErrUnread) {
		return cannotRead(name, trouble)
	}
	return fmt.Sprintf("cannot save %s (%s)", name, store.Cause(trouble))
}

func cannotRead(name string, trouble error) string {
	return fmt.Sprintf("cannot read %s (%s)", name, store.Cause(trouble))
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
