//go:build unix

package notify

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// descriptor returns the descriptor of this process that a path stands for.
func descriptor(path string) (fd int, ok bool) {
	switch path {
	case "/dev/stdin":
		return 0, true
	case "/dev/stdout":
		return 1, true
	case "/dev/stderr":
		return 2, true
	}
	for _, dir := range []string{"/dev/fd/", "/proc/self/fd/"} {
		if number, ok := strings.CutPrefix(path, dir); ok {
			fd, err := strconv.ParseUint(number, 10, 16)
			return int(fd), err == nil
		}
	}
	return 0, false
}

// duplicate opens a descriptor that this process was given. Its own, which may
// have that number by accident, are close-on-exec.
func duplicate(fd int) (*os.File, error) {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	if err == nil && flags&unix.FD_CLOEXEC != 0 {
		err = syscall.EBADF
	}
	if err == nil {
		fd, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	}
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller of WriteFile knows what the file is for
	}
	return os.NewFile(uintptr(fd), ""), nil
}

// keepOwner gives a file to whom another belongs, as far as that is allowed.
func keepOwner(file *os.File, other fs.FileInfo) {
	if owner, ok := other.Sys().(*syscall.Stat_t); ok {
		if file.Chown(int(owner.Uid), int(owner.Gid)) != nil {
			_ = file.Chown(-1, int(owner.Gid)) // at least those of the group can read it on
		}
	}
}
