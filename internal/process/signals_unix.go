//go:build unix

package process

import (
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// caughtSignals leaves alone what reaches the whole group by itself (TSTP,
// CONT, TTIN, TTOU, WINCH), and HUP and INT when they are ignored: catching
// them would undo nohup. PIPE and XFSZ are about streams and files of this
// process: the runtime takes them, and the write fails.
func caughtSignals() []syscall.Signal {
	list := []syscall.Signal{
		syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGALRM, syscall.SIGVTALRM, syscall.SIGXCPU, syscall.SIGIO,
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			list = append(list, sig)
		}
	}
	return append(list, systemSignals()...)
}

// take returns what has arrived since the last call, oldest first.
func (s *Signals) take() []syscall.Signal {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pending
	s.pending = nil
	return p
}

// settle returns what arrived up to this call.
func (s *Signals) settle() []syscall.Signal {
	s.listener.Settle()
	return s.take()
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
