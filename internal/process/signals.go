package process

import (
	"context"
	"slices"
	"sync"
	"syscall"
	"time"

	"cb/internal/signals"
)

// Signals collects the signals that are sent to this process. A nil one has
// collected none.
type Signals struct {
	listener signals.Listener
	wake     chan struct{} // holds an element when pending has grown

	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	pending []syscall.Signal // each at most once, as the kernel keeps them
	first   syscall.Signal
}

// Catch begins to collect signals. Call it before anything that must not be
// cut short by one, and Close only when nothing is written any more.
func Catch() *Signals { return collect(caughtSignals()) }

// collect leaves those of job control with the kernel.
func collect(list []syscall.Signal) *Signals {
	s := &Signals{wake: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.listener = signals.Listen(list, s.note)
	return s
}

// Context returns a context that is cancelled as soon as a stop signal (INT,
// TERM, HUP or QUIT) has arrived, or by Close.
func (s *Signals) Context() context.Context {
	if s == nil {
		return context.Background()
	}
	return s.ctx
}

// Stopped returns the first stop signal that arrived, 0 when none has.
func (s *Signals) Stopped() syscall.Signal {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first
}

// Close ends the collection; signals have their usual effect again.
func (s *Signals) Close() {
	s.listener.Close()
	s.cancel()
}

func (s *Signals) note(sig syscall.Signal) {
	s.mu.Lock()
	if s.first == 0 && isStop(sig) {
		s.first = sig
		s.cancel()
	}
	if !slices.Contains(s.pending, sig) {
		s.pending = append(s.pending, sig)
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// interrupted returns the stop signal of a run that has just ended with code.
func (s *Signals) interrupted(code int) syscall.Signal {
	if code == 0 {
		return s.Stopped()
	}
	late := time.NewTimer(interruptWait)
	defer late.Stop()
	select {
	case <-s.ctx.Done():
	case <-late.C:
	}
	return s.Stopped()
}

func isStop(sig syscall.Signal) bool {
	switch sig {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT:
		return true
	}
	return false
}
