package signals

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// settleWait bounds Settle where it waits for another thread, for some 50 µs.
const settleWait = 100 * time.Millisecond

// notified is a Listener by os/signal, which works everywhere.
type notified struct {
	in     chan os.Signal
	quit   chan struct{}
	gone   chan struct{}
	marked chan struct{} // holds an element when a marker has been told of
}

func listenByRuntime(list []syscall.Signal, note func(syscall.Signal)) *notified {
	n := &notified{
		in:     make(chan os.Signal, 64),
		quit:   make(chan struct{}),
		gone:   make(chan struct{}),
		marked: make(chan struct{}, 1),
	}
	for _, sig := range list { // of an empty list signal.Notify would make all
		signal.Notify(n.in, sig)
	}
	go n.loop(note)
	return n
}

func (n *notified) loop(note func(syscall.Signal)) {
	defer close(n.gone)
	for {
		select {
		case received := <-n.in:
			sig, ok := received.(syscall.Signal)
			if !ok {
				continue
			}
			note(sig)
			if isMarker(sig) {
				select {
				case n.marked <- struct{}{}:
				default:
				}
			}
		case <-n.quit:
			return
		}
	}
}

// Settle sends this process a marker, which follows whatever was handled before
// it through the same channel.
func (n *notified) Settle() {
	select {
	case <-n.marked: // an older one
	default:
	}
	if !sendMarker() {
		return
	}
	bound := time.NewTimer(settleWait)
	defer bound.Stop()
	select {
	case <-n.marked:
	case <-bound.C:
	}
}

// Close may be called again.
func (n *notified) Close() {
	signal.Stop(n.in)
	select {
	case <-n.gone: // closed before
	default:
		close(n.quit)
		<-n.gone
	}
}
