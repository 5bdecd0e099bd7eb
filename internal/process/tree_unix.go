//go:build unix

package process

import (
	"syscall"
	"time"
)

// tree is a command with everything that came from it.
type tree struct {
	pid       int
	ended     bool
	group     bool // the command leads a group of its own
	adopts    bool // orphans of the tree become children of this process
	restore   func()
	strangers map[int]uint64 // what was below this process before, with start times
}

type proc struct {
	pid, parent, group int
	start              uint64
}

const (
	// killWait bounds the last stage of the time limit. A process that
	// survives KILL for so long hangs in the kernel.
	killWait = 2 * time.Second
	// pollInterval is how often the rest of a tree is looked at while it ends.
	pollInterval = 20 * time.Millisecond
)

// newTree prepares for a command. Only one with a time limit is treated
// specially, because only its tree has to be found again.
func newTree(limited bool) *tree {
	t := &tree{restore: func() {}}
	if limited {
		// A group of its own would cut the command off from a terminal.
		t.group = !hasTerminal()
		t.adopt()
	}
	return t
}

// release undoes what newTree changed in this process.
func (t *tree) release() { t.restore() }

// signal sends a signal to all that is left of the tree, parents first, and
// reports whether anything was. Signal 0 only asks.
func (t *tree) signal(sig syscall.Signal) bool {
	procs, ok := t.walk()
	if !ok {
		return t.signalDirectly(sig)
	}
	if t.group {
		for _, p := range procs {
			if p.group == t.pid { // in one stroke, so that none is forked past it
				syscall.Kill(-t.pid, sig)
				break
			}
		}
	}
	for _, p := range procs {
		if !t.group || p.group != t.pid {
			syscall.Kill(p.pid, sig)
		}
	}
	return len(procs) > 0
}

// signalDirectly is for where the tree cannot be walked.
func (t *tree) signalDirectly(sig syscall.Signal) bool {
	switch {
	case t.group:
		return syscall.Kill(-t.pid, sig) == nil
	case !t.ended:
		return syscall.Kill(t.pid, sig) == nil
	}
	return false
}
