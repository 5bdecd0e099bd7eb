//go:build unix

package process

import (
	"io"
	"os"
	"syscall"
)

// Writer returns a writer for a standard stream of this process. Unlike the
// file's own method, which the runtime lets die of SIGPIPE, its Write fails when
// the reader has gone away.
func Writer(stream *os.File) io.Writer { return streamWriter{stream} }

type streamWriter struct{ stream *os.File }

func (w streamWriter) Write(p []byte) (written int, err error) {
	raw, err := w.stream.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := raw.Write(func(fd uintptr) (done bool) {
		for written < len(p) {
			var n int
			n, err = syscall.Write(int(fd), p[written:])
			switch {
			case err == syscall.EINTR:
			case err == syscall.EAGAIN:
				return false
			case err != nil:
				return true
			default:
				written += n
			}
		}
		return true
	})
	if err == nil {
		err = failed
	}
	return written, err
}
