// Package process runs one command as if nothing stood between it and the
// caller: its descriptors, its process group, its signals and the way it ends
// are the caller's own.
package process

import (
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// Exit codes for a command that gave none of its own, as timeout(1) uses them.
const (
	codeTimeLimit   = 124
	codeNoFork      = 125
	codeNotRunnable = 126
	codeNotFound    = 127
	codeKilled      = 137
	codeSignal      = 128 // plus the number of the signal
)

// interruptWait is how long a stop signal may come after the end of a command
// that the same signal ended: both get it, in no fixed order.
const interruptWait = 25 * time.Millisecond

// Command is one command and the conditions under which it runs.
type Command struct {
	// Args is the argument vector, never empty. Args[0] is looked up as execvp
	// does, in the PATH of Env.
	Args []string

	// Env is the complete environment, handed over as it is: of two entries
	// with one name, which one counts is up to the command.
	Env []string

	// Stdin, Stdout and Stderr are handed over as they are; nil leaves that
	// descriptor closed. Every other descriptor of this process that is not
	// close-on-exec is inherited too.
	Stdin, Stdout, Stderr *os.File

	// PipeStdout and PipeStderr, when not nil, are given every chunk of that
	// stream as it arrives and unchanged, instead of the stream being
	// inherited. Each is called by one goroutine of its own, until Run
	// returns (only after a stop signal a Write that hangs is left behind).
	// When the reader of one has gone away its pipe is closed, so that the
	// command meets a closed pipe too. Any other failure closes that of
	// PipeStdout and is told in OutputLost; that of PipeStderr stays open.
	PipeStdout, PipeStderr io.Writer

	// TimeLimit is how long the command may run; 0 is for ever.
	TimeLimit time.Duration

	// KillAfter is how long the tree has to end after TERM before what is left
	// of it gets KILL; 0 is no time at all.
	KillAfter time.Duration
}

// Result is how a command ended, or why it did not begin.
type Result struct {
	Started     bool           // Started is false when the command did not run.
	StartErr    error          // StartErr is why it did not run, as one line of text.
	Code        int            // Code is the exit code to pass on.
	Signal      syscall.Signal // Signal is what the command died of, 0 when it exited.
	TimedOut    bool           // TimedOut is true when the time limit passed and the tree was told to end.
	Killed      bool           // Killed is true when, after that, something had to be killed.
	Interrupted syscall.Signal // Interrupted is the stop signal this process was given, 0 when none.
	OutputLost  error          // OutputLost is why PipeStdout failed, nil when it did not or its reader went away.
	NoFork      bool           // NoFork is true when the machine had no room for another process.
	Began       time.Time      // Began is when the command was started.
	Took        time.Duration  // Took is how long it ran, by the monotonic clock.
}

// Run runs the command and returns when it has ended. A nil s is for a command
// that no signal of this process concerns. Only one Run may be under way at a
// time, and no other child may be waited for meanwhile. When a stop signal
// came before the start nothing is started.
func (c Command) Run(s *Signals) Result {
	if s == nil {
		s = collect(nil)
		defer s.Close()
	}
	r := Result{Began: time.Now()}
	if !r.stopped(s) {
		c.run(s, &r)
	}
	return r
}

// stopped reports whether a stop signal came before the start.
func (r *Result) stopped(s *Signals) bool {
	r.Interrupted = s.Stopped()
	if r.Interrupted == 0 {
		return false
	}
	r.Code = codeSignal + int(r.Interrupted)
	return true
}

// quote returns a name for use in a one-line message.
func quote(name string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if name == "" || strings.ContainsFunc(name, odd) {
		return strconv.Quote(name)
	}
	return name
}
