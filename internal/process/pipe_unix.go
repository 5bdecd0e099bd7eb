//go:build unix

package process

import (
	"errors"
	"syscall"
	"time"
)

// drainBytes is more than a pipe holds: what the command wrote last is in it.
const drainBytes = 1 << 20

// descriptors returns what the command gets as 0, 1 and 2. Those of nil are
// closed there.
func (p *pipes) descriptors() []uintptr {
	var fds []uintptr
	for _, file := range p.files {
		fds = append(fds, file.Fd())
	}
	return fds
}

// ReaderGone reports whether a write failed because nobody reads any more.
func ReaderGone(err error) bool { return errors.Is(err, syscall.EPIPE) }

// copyRest moves what is in the pipe already. The deadline may have passed
// while a slow reader held us up, and the command's last words must not be
// lost by that.
func (s stream) copyRest(buf []byte) {
	s.from.SetReadDeadline(time.Time{})
	raw, err := s.from.SyscallConn()
	if err != nil {
		return
	}
	for total := 0; total < drainBytes; {
		n := 0
		err := raw.Read(func(fd uintptr) bool {
			n, _ = syscall.Read(int(fd), buf)
			return true // also when it would block
		})
		if err != nil || n <= 0 {
			return
		}
		if !s.write(buf[:n]) {
			return
		}
		total += n
	}
}
