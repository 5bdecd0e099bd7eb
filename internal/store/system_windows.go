package store

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// Windows follows no link without being told by its owner, and has no FIFO in
// a directory.
const (
	noFollow = 0
	noBlock  = 0
)

// demands says nothing: access lists are inherited.
func demands(fs.FileInfo) (shared bool, uid, gid int) { return false, -1, -1 }

func syncData(file *os.File) error { return file.Sync() }

// syncDirectory does nothing: a directory cannot be flushed.
func syncDirectory(*os.File) error { return nil }

func unsupported(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, windows.ERROR_INVALID_FUNCTION)
}

func interrupted(error) bool { return false }

// rename waits a moment for virus scanners and indexers, which open files
// without leave for others to replace them.
func rename(root *os.Root, from, to string) error {
	err := root.Rename(from, to)
	for wait := time.Millisecond; wait < 200*time.Millisecond && busy(err); wait *= 2 {
		time.Sleep(wait)
		err = root.Rename(from, to)
	}
	return err
}

func busy(err error) bool {
	return errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
}

// removeLocked removes a lock file that is held. An open file cannot be
// removed, so it is let go first; whoever opens it in between keeps it.
func removeLocked(root *os.Root, name string, held *lock) error {
	held.release()
	if err := root.Remove(name); err != nil && !busy(err) {
		return err
	}
	return nil
}

// ownerOf does not say: access lists decide.
func ownerOf(fs.FileInfo) int { return -1 }

// ourMode cannot tell: access lists decide.
func ourMode(fs.FileMode, bool) bool { return true }

// hasOneName is not asked there: nobody but the owner of a file can link it.
func hasOneName(fs.FileInfo) bool { return true }
