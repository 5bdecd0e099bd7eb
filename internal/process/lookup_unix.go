//go:build unix

package process

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
)

const (
	shell       = "/bin/sh"
	defaultPath = "/bin:/usr/bin" // of execvp when there is no PATH

	busyTries = 20 // for a program that somebody is just done with writing
	busyPause = 10 * time.Millisecond
)

// Shell returns the argument vector that runs a line in the system's shell.
func Shell(line string) []string { return []string{shell, "-c", line} }

// start starts the command as execvp would run it.
func (c Command) start(attr *syscall.ProcAttr) (pid int, err error) {
	name := c.Args[0]
	if strings.Contains(name, "/") {
		return c.startFile(name, attr)
	}
	if name == "" {
		return 0, syscall.ENOENT
	}
	var denied, last error
	for dir := range strings.SplitSeq(c.path(), ":") {
		file := name
		if dir != "" {
			file = dir + "/" + name
		}
		var info syscall.Stat_t
		// It spares a fork for each directory that does not have it.
		if err = syscall.Stat(file, &info); err == nil {
			pid, err = c.startFile(file, attr)
		}
		switch err {
		case nil:
			return pid, nil
		case syscall.EACCES:
			denied = err
		case syscall.ENOENT, syscall.ENOTDIR, syscall.ESTALE, syscall.ENODEV, syscall.ETIMEDOUT:
		default:
			return 0, err
		}
		last = err
	}
	if denied != nil {
		return 0, denied
	}
	return 0, last
}

func (c Command) path() string {
	for _, entry := range c.Env {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			return path
		}
	}
	return defaultPath
}

func (c Command) startFile(file string, attr *syscall.ProcAttr) (pid int, err error) {
	pid, err = syscall.ForkExec(file, c.Args, attr)
	for try := 0; err == syscall.ETXTBSY && try < busyTries; try++ {
		time.Sleep(busyPause)
		pid, err = syscall.ForkExec(file, c.Args, attr)
	}
	if err == syscall.ENOEXEC { // a script without a first line that names its interpreter
		args := append([]string{shell, file}, c.Args[1:]...)
		pid, err = syscall.ForkExec(shell, args, attr)
	}
	return pid, err
}

// refuse fills in the result of a command that could not be started.
func (c Command) refuse(err error, r *Result) {
	name := c.Args[0]
	r.StartErr, r.Code = fmt.Errorf("%s: %w", quote(name), err), codeNotRunnable
	switch {
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM),
		errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		r.NoFork, r.Code = true, codeNoFork
		r.StartErr = fmt.Errorf("fork: %w", err)
	case errors.Is(err, syscall.ENOENT):
		r.Code = codeNotFound
		var info syscall.Stat_t
		if !strings.Contains(name, "/") {
			r.StartErr = fmt.Errorf("%s: command not found", quote(name))
		} else if syscall.Stat(name, &info) == nil {
			r.StartErr = fmt.Errorf("%s: its interpreter was not found", quote(name))
		}
	case errors.Is(err, syscall.EACCES):
		var info syscall.Stat_t
		if syscall.Stat(name, &info) == nil && info.Mode&syscall.S_IFMT == syscall.S_IFDIR {
			r.StartErr = fmt.Errorf("%s: %w", quote(name), syscall.EISDIR)
		}
	}
}
