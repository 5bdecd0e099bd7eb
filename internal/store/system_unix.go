//go:build unix

package store

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

const (
	noFollow = syscall.O_NOFOLLOW
	noBlock  = syscall.O_NONBLOCK // a FIFO in the way must not stop us
)

// demands returns what a directory asks of new files: whether they are for its
// group, and, when root writes into somebody else's, to whom they are given.
func demands(info fs.FileInfo) (shared bool, uid, gid int) {
	shared = info.Mode()&fs.ModeSetgid != 0 && info.Mode().Perm()&0o020 != 0
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 && owner.Uid != 0 {
		return shared, int(owner.Uid), int(owner.Gid)
	}
	return shared, -1, -1
}

// syncDirectory tolerates file systems that cannot, for they need not.
func syncDirectory(dir *os.File) error {
	err := dir.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// unsupported reports whether an error of a lock says that the file system has
// no locks.
func unsupported(err error) bool {
	return errors.Is(err, syscall.ENOLCK) || errors.Is(err, errors.ErrUnsupported)
}

func interrupted(err error) bool { return errors.Is(err, syscall.EINTR) }

// rename asks again when a signal comes in between, as it may on file systems
// that ask another process or machine.
func rename(root *os.Root, from, to string) error {
	for {
		if err := root.Rename(from, to); !interrupted(err) {
			return err
		}
	}
}

// removeLocked removes a lock file that is held.
func removeLocked(root *os.Root, name string, held *lock) error {
	err := root.Remove(name)
	held.release()
	return err
}

// ownerOf returns the number of the user whom a file belongs to, -1 if unknown.
func ownerOf(info fs.FileInfo) int {
	if owner, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(owner.Uid)
	}
	return -1
}

// ourMode reports whether a file or a directory has the mode of those that are
// created here.
func ourMode(mode fs.FileMode, shared bool) bool {
	alone, group := fs.FileMode(0o600), fs.FileMode(0o660)
	if mode.IsDir() {
		alone, group = 0o700, 0o770
	}
	return mode.Perm() == alone || shared && mode.Perm() == group
}

// hasOneName reports whether no other name leads to a file.
func hasOneName(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || stat.Nlink == 1
}
