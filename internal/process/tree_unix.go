//go:build unix

package process

import (
	"os"
	"slices"
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
	told      map[int]uint64 // what was sent TERM, with start times
	resists   bool           // some of it can do something else than die of that
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

// end sends TERM to all of the tree, once, and reports whether anything is left.
// What was forked at that moment is missed, and told by a later call, when those
// who were told have died and left it behind. Where one need not die of TERM, it
// may as well have been started to clean up, and is left in peace.
func (t *tree) end() bool {
	procs, ok := t.walk()
	first := t.told == nil
	if first {
		t.told = make(map[int]uint64)
	}
	switch {
	case ok:
		t.tell(procs, first)
		return len(procs) > 0
	case first:
		t.signalDirectly(syscall.SIGTERM)
		t.signalDirectly(syscall.SIGCONT)
	}
	return t.signalDirectly(0)
}

func (t *tree) tell(procs []proc, first bool) {
	if t.resists {
		return
	}
	var untold []proc
	for _, p := range procs {
		if start, told := t.told[p.pid]; told && start == p.start || !first && p.parent != os.Getpid() {
			continue
		}
		untold = append(untold, p)
		if !t.grouped(p) { // it may leave the group before that is told
			t.told[p.pid] = p.start
		}
		t.resists = t.resists || !diesOf(p.pid, syscall.SIGTERM)
	}
	t.send(untold, syscall.SIGTERM)
	t.send(untold, syscall.SIGCONT) // a stopped process acts on TERM only now
}

// kill sends KILL to all that is left of the tree and reports whether anything
// was.
func (t *tree) kill() bool {
	procs, ok := t.walk()
	if !ok {
		return t.signalDirectly(syscall.SIGKILL)
	}
	t.send(procs, syscall.SIGKILL)
	return len(procs) > 0
}

// send sends a signal to some of the tree, given with parents first.
func (t *tree) send(procs []proc, sig syscall.Signal) {
	if slices.ContainsFunc(procs, t.grouped) {
		syscall.Kill(-t.pid, sig) // in one stroke, so that none is forked past it
	}
	for _, p := range procs {
		if !t.grouped(p) {
			syscall.Kill(p.pid, sig)
		}
	}
}

// grouped reports whether a process is in the command's own group.
func (t *tree) grouped(p proc) bool { return t.group && p.group == t.pid }

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
