package process

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// drainWait is how long a process that the command left behind may keep an
// output pipe open after the command's end.
const drainWait = time.Second

// pipes are the descriptors a command gets, and the copying of those that do
// not lead straight to ours.
type pipes struct {
	files   []*os.File
	writers []*os.File
	streams []stream
	done    chan struct{}
}

type stream struct {
	from *os.File
	to   io.Writer
	// lost is given the error that ended the copying, unless the reader of to
	// had just gone away. It is nil for a stream whose errors are left to the
	// command's own fate: without us, too, it would go on without its messages.
	lost chan error
}

func (c Command) openPipes() (*pipes, error) {
	p := &pipes{files: []*os.File{c.Stdin, c.Stdout, c.Stderr}, done: make(chan struct{})}
	lost := []chan error{nil, make(chan error, 1), nil}
	for i, to := range []io.Writer{nil, c.PipeStdout, c.PipeStderr} {
		if to == nil {
			continue
		}
		r, w, err := os.Pipe()
		if err != nil {
			p.started(false)
			return nil, errors.Unwrap(err)
		}
		p.files[i] = w
		p.writers = append(p.writers, w)
		p.streams = append(p.streams, stream{from: r, to: to, lost: lost[i]})
	}
	return p, nil
}

// started begins the copying when the command has been started, and drops
// what is not needed any more.
func (p *pipes) started(ok bool) {
	for _, w := range p.writers {
		w.Close()
	}
	if !ok {
		for _, s := range p.streams {
			s.from.Close()
		}
		return
	}
	if len(p.streams) == 0 {
		close(p.done)
		return
	}
	var copying sync.WaitGroup
	for _, s := range p.streams {
		copying.Go(s.copy)
	}
	go func() {
		copying.Wait()
		close(p.done)
	}()
}

// drain waits until all output has been copied. It is bounded by the deadline
// for reading and, once this process is told to stop, also for writing: the one
// who reads our output may never read on.
func (p *pipes) drain(s *Signals) {
	stop := s.ctx.Done()
	var bound <-chan time.Time
	for _, stream := range p.streams {
		if stream.from.SetReadDeadline(time.Now().Add(drainWait)) != nil {
			bound = time.After(drainWait) // no deadlines on this system
		}
	}
	for {
		select {
		case <-p.done:
			return
		case <-bound:
			return
		case <-stop:
			stop, bound = nil, time.After(drainWait)
		}
	}
}

// lost returns why standard output could not be passed on, nil when it could.
func (p *pipes) lost() error {
	for _, s := range p.streams {
		select {
		case err := <-s.lost: // never of a nil one
			return err
		default:
		}
	}
	return nil
}

// write passes a chunk on, and reports whether to go on.
func (s stream) write(p []byte) bool {
	_, err := s.to.Write(p)
	switch {
	case err == nil:
		return true
	case ReaderGone(err):
		return false
	case s.lost == nil:
		return true
	}
	s.lost <- err
	return false
}

// copy moves the stream until its end, until its reader fails, or until the
// deadline that is set after the end of the command.
func (s stream) copy() {
	defer s.from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := s.from.Read(buf)
		if n > 0 && !s.write(buf[:n]) {
			return
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			s.copyRest(buf)
			return
		}
		if err != nil {
			return
		}
	}
}
