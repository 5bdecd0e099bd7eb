//go:build unix

package process

import (
	"os"
	"syscall"
)

// Tell writes a text to a standard stream of this process. Unlike the file's
// own methods it does not die of SIGPIPE when the reader has gone away while
// no signals are caught.
func Tell(stream *os.File, text string) error {
	raw, err := stream.SyscallConn()
	if err != nil {
		return err
	}
	rest := []byte(text)
	failed := raw.Write(func(fd uintptr) (done bool) {
		for len(rest) > 0 {
			var n int
			n, err = syscall.Write(int(fd), rest)
			switch {
			case err == syscall.EINTR:
			case err == syscall.EAGAIN:
				return false
			case err != nil:
				return true
			default:
				rest = rest[n:]
			}
		}
		return true
	})
	if err == nil {
		err = failed
	}
	return err
}
