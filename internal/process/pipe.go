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
}

func (c Command) openPipes() (*pipes, error) {
	p := &pipes{files: []*os.File{c.Stdin, c.Stdout, c.Stderr}, done: make(chan struct{})}
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
		p.streams = append(p.streams, stream{from: r, to: to})
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

// copy moves the stream until its end, until its reader fails, or until the
// deadline that is set after the end of the command.
func (s stream) copy() {
	defer s.from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := s.from.Read(buf)
		if n > 0 {
			if _, werr := s.to.Write(buf[:n]); werr != nil {
				return
			}
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
