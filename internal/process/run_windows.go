package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// Shell returns the argument vector that runs a line in the system's shell.
func Shell(line string) []string { return []string{"cmd", "/c", line} }

func (c Command) run(s *Signals, r *Result) {
	path, err := exec.LookPath(c.Args[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		c.refuse(err, r)
		return
	}
	pipes, err := c.openPipes()
	if err != nil {
		c.refuse(err, r)
		return
	}
	r.Began = time.Now()
	child, err := os.StartProcess(path, c.Args, &os.ProcAttr{
		Env:   c.Env,
		Files: pipes.files,
		Sys:   &syscall.SysProcAttr{CmdLine: c.line()},
	})
	pipes.started(err == nil)
	if err != nil {
		c.refuse(err, r)
		return
	}
	r.Started = true
	c.wait(child, r)
	pipes.drain(s)
	r.OutputLost = pipes.lost()
	r.Interrupted = s.interrupted(r.Code)
}

// line is the command line for the shell, which does not follow the quoting
// rules of other programs; empty for all others.
func (c Command) line() string {
	if len(c.Args) == 3 && c.Args[0] == "cmd" && c.Args[1] == "/c" {
		return `cmd /s /c "` + c.Args[2] + `"`
	}
	return ""
}

// wait returns when the command has ended. At the time limit its whole job is
// ended, at once: there is no TERM.
func (c Command) wait(child *os.Process, r *Result) {
	var limit <-chan time.Time
	job := windows.Handle(0)
	if c.TimeLimit > 0 {
		job = newJob(child)
		defer windows.CloseHandle(job)
		t := time.NewTimer(c.TimeLimit)
		defer t.Stop()
		limit = t.C
	}
	ended := make(chan *os.ProcessState, 1)
	go func() {
		state, _ := child.Wait()
		ended <- state
	}()
	var state *os.ProcessState
	select {
	case state = <-ended:
	case <-limit:
		r.TimedOut = true
		if job == 0 || windows.TerminateJobObject(job, codeTimeLimit) != nil {
			child.Kill()
		}
		state = <-ended
	}
	r.Took = time.Since(r.Began)
	switch {
	case r.TimedOut:
		r.Code = codeTimeLimit
	case state != nil:
		r.Code = state.ExitCode()
	}
}

// newJob returns a job that the command and all its children belong to, 0 if
// it cannot be made. Closing it ends nothing.
func newJob(child *os.Process) windows.Handle {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0
	}
	const access = windows.PROCESS_SET_QUOTA | windows.PROCESS_TERMINATE
	handle, err := windows.OpenProcess(access, false, uint32(child.Pid))
	if err == nil {
		err = windows.AssignProcessToJobObject(job, handle)
		windows.CloseHandle(handle)
	}
	if err != nil {
		windows.CloseHandle(job)
		return 0
	}
	return job
}

// refuse fills in the result of a command that could not be started.
func (c Command) refuse(err error, r *Result) {
	name := quote(c.Args[0])
	var errno syscall.Errno
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		r.Code, r.StartErr = codeNotFound, fmt.Errorf("%s: command not found", name)
	case errors.As(err, &errno):
		r.Code, r.StartErr = codeNotRunnable, fmt.Errorf("%s: %w", name, errno)
		if errno == windows.ERROR_NOT_ENOUGH_MEMORY || errno == windows.ERROR_COMMITMENT_LIMIT {
			r.Code, r.NoFork = codeNoFork, true
		}
	default:
		line, _, _ := strings.Cut(err.Error(), "\n")
		r.Code, r.StartErr = codeNotRunnable, fmt.Errorf("%s: %s", name, line)
	}
}
