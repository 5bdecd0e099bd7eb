// Package signals tells of the signals that this process is sent.
package signals

import "syscall"

// Listener tells of signals until it is closed.
type Listener interface {
	// Settle returns when everything has been told of that this process was sent
	// before the call. What another thread is about to handle may be missed.
	Settle()
	// Close ends it. Signals that nobody else listens to have the effect again
	// that the runtime gives them.
	Close()
}

// Listen begins to tell note of the signals of the list and, on Unix, of
// SIGCHLD: one call at a time, in the order in which they are handled.
func Listen(list []syscall.Signal, note func(syscall.Signal)) Listener {
	list = append(list, always()...)
	if l, ok := listenByPipe(list, note); ok {
		return l
	}
	return listenByRuntime(list, note)
}
