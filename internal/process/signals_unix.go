//go:build unix

package process

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// settleWait bounds settle, which takes some 50 µs.
const settleWait = 100 * time.Millisecond

// caughtSignals leaves alone what reaches the whole group by itself (TSTP,
// CONT, TTIN, TTOU, WINCH), and HUP and INT when they are ignored: catching
// them would undo nohup. PIPE is caught and not ignored, because the command
// would inherit that.
func caughtSignals() []os.Signal {
	list := []os.Signal{
		syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGALRM, syscall.SIGVTALRM, syscall.SIGXCPU, syscall.SIGXFSZ,
		syscall.SIGIO, syscall.SIGPIPE,
	}
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			list = append(list, sig)
		}
	}
	return append(list, systemSignals()...)
}

func childSignals() []os.Signal { return []os.Signal{syscall.SIGCHLD} }

// take returns what has arrived since the last call, oldest first.
func (s *Signals) take() []syscall.Signal {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pending
	s.pending = nil
	return p
}

// settle returns what arrived up to this call. The marker it sends to this
// process follows whatever was handled before it through the same channel. A
// signal may still be on its way to another thread, so what was sent less than
// a scheduling delay ago can be missed.
func (s *Signals) settle() []syscall.Signal {
	if syscall.Kill(os.Getpid(), syscall.SIGCHLD) != nil {
		return s.take()
	}
	bound := time.NewTimer(settleWait)
	defer bound.Stop()
	var all []syscall.Signal
	for {
		select {
		case <-s.wake:
		case <-bound.C:
			return append(all, s.take()...)
		}
		all = append(all, s.take()...)
		if slices.Contains(all, syscall.SIGCHLD) {
			return all
		}
	}
}

// foreground reports whether this process is in the foreground group of its
// terminal. What is typed there reaches the whole group without our help.
func foreground() bool {
	fd, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// hasTerminal reports whether this process has a controlling terminal.
func hasTerminal() bool {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
}
