//go:build unix

package process

import (
	"os"
	"syscall"
	"time"
)

// job is a command that is running.
type job struct {
	signals *Signals
	tree    *tree
	pid     int
	waitFor int // -1 where this process also inherits the orphans of others
	ended   bool
	endedAt time.Time
	status  syscall.WaitStatus
}

func (c Command) run(s *Signals, r *Result) {
	pipes, err := c.openPipes()
	if err != nil {
		c.refuse(err, r)
		return
	}
	tree := newTree(c.TimeLimit > 0)
	defer tree.release()

	s.listener.Settle()
	if r.stopped(s) {
		pipes.started(false)
		return
	}
	r.Began = time.Now()
	pid, err := c.start(&syscall.ProcAttr{
		Env:   c.Env,
		Files: pipes.descriptors(),
		Sys:   &syscall.SysProcAttr{Setpgid: tree.group},
	})
	pipes.started(err == nil)
	if err != nil {
		c.refuse(err, r)
		r.Interrupted = s.Stopped()
		return
	}
	r.Started = true
	tree.pid = pid
	j := &job{signals: s, tree: tree, pid: pid, waitFor: pid}
	if tree.adopts || os.Getpid() == 1 {
		j.waitFor = -1
	}
	// What came at the moment of the start may have missed the command, even
	// if it was typed at its terminal.
	for _, sig := range s.settle() {
		j.forward(sig, diesOf(pid, sig))
	}
	c.wait(j, r)
	pipes.drain(s)
	r.OutputLost = pipes.lost()
	j.report(r)
}

// wait returns when the command has ended or, at the time limit, when nothing
// is left of its tree.
func (c Command) wait(j *job, r *Result) {
	var limit <-chan time.Time
	if c.TimeLimit > 0 {
		t := time.NewTimer(time.Until(r.Began.Add(c.TimeLimit)))
		defer t.Stop()
		limit = t.C
	}
	if j.await(limit, nil, j.hasEnded) {
		return
	}
	r.TimedOut = true
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	grace := time.NewTimer(c.KillAfter)
	defer grace.Stop()
	if j.await(grace.C, poll.C, j.treeEnded) {
		return
	}
	r.Killed = true
	bound := time.NewTimer(killWait)
	defer bound.Stop()
	j.await(bound.C, poll.C, j.treeKilled)
}

// await handles signals until done or until the time has passed, and reports
// which of the two it was. It is told of the end of a child after what came
// before that end, so it looks for one only then.
func (j *job) await(over, poll <-chan time.Time, done func() bool) bool {
	for !done() {
		select {
		case <-j.signals.wake:
			j.reap()
			for _, sig := range j.signals.take() {
				j.forward(sig, false)
			}
		case <-poll:
			j.reap()
		case <-over:
			j.reap()
			return done()
		}
	}
	return true
}

func (j *job) hasEnded() bool { return j.ended }

func (j *job) treeEnded() bool { return !j.tree.end() && j.ended }

// treeKilled kills again what is still there: it may have forked meanwhile.
func (j *job) treeKilled() bool { return !j.tree.kill() && j.ended }

// reap is the only place where children are waited for. Nothing else runs
// beside it, so no signal can go to a process id that is free again.
func (j *job) reap() {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(j.waitFor, &status, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
		case pid <= 0 || err != nil:
			return
		case pid == j.pid:
			j.ended, j.endedAt, j.status = true, time.Now(), status
			j.tree.ended = true
			if j.waitFor > 0 {
				return
			}
		}
	}
}

// forward passes a signal on to the command. One that has missed it is passed on
// even where the terminal gives it to all of the group.
func (j *job) forward(sig syscall.Signal, missed bool) {
	switch sig {
	case syscall.SIGCHLD:
		return
	case syscall.SIGINT, syscall.SIGQUIT:
		if !missed && !j.tree.group && foreground() {
			return // the terminal gave it to the command already
		}
	}
	j.reap()
	if j.ended {
		return
	}
	target := j.pid
	if j.tree.group && isStop(sig) {
		target = -j.pid // as it would have reached all of our own group
	}
	syscall.Kill(target, sig)
}

func (j *job) report(r *Result) {
	if !j.ended { // it hangs in the kernel, even after KILL
		j.endedAt = time.Now()
	}
	r.Took = j.endedAt.Sub(r.Began)
	r.Code = j.status.ExitStatus()
	if j.ended && j.status.Signaled() {
		r.Signal = j.status.Signal()
		r.Code = codeSignal + int(r.Signal)
	}
	switch {
	case r.Killed:
		r.Code = codeKilled
	case r.TimedOut:
		r.Code = codeTimeLimit
	}
	if r.TimedOut {
		r.Interrupted = j.signals.Stopped()
		return
	}
	if r.Code == 0 {
		j.signals.settle() // a signal to the whole group may be noticed after the end of the command
	}
	r.Interrupted = j.signals.interrupted(r.Code)
}
