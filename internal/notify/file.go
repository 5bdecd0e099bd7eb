// Package notify tells the world of a run: hooks, metrics, the result file.
package notify

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

const (
	maxLinks = 40        // symlinks on the way to a file, as the kernel counts them
	maxTemps = 10_000    // names that are tried for a temporary file
	leftAge  = time.Hour // after which nobody is still writing one
	// streamWait is how long the reader of a FIFO may take. One that never
	// comes must not hold up the end of a run.
	streamWait = 2 * time.Second
)

// errUnread says that the reader of a stream did not come, or does not read on.
var errUnread = errors.New("nobody reads it")

// WriteFile writes a file in one step: a reader finds the old content or the
// new one, whole, and after an error the old one is there and nothing else. A
// symlink is followed; what is not a regular file, and a descriptor of this
// process such as /dev/stdout, is written into and not replaced. A file that
// was there keeps its mode and, where that is allowed, its owner; a new one
// gets mode, or when that is 0 what the umask leaves of 0666.
func WriteFile(path string, mode fs.FileMode, write func(io.Writer) error) error {
	at, err := locate(path)
	switch {
	case err != nil:
		return err
	case at.fd >= 0 || at.was != nil && !at.was.Mode().IsRegular():
		return at.stream(write)
	}
	return at.replace(mode, write)
}

// place is where the content of a file belongs.
type place struct {
	path string
	fd   int         // a descriptor of this process, or -1
	was  fs.FileInfo // what is there; nil: nothing
}

// locate follows symlinks, up to a descriptor: those of Linux end in the file
// that it was opened from, which may have got output of the command meanwhile.
func locate(path string) (place, error) {
	for range maxLinks {
		if fd, ok := descriptor(path); ok {
			return place{path: path, fd: fd}, nil
		}
		dir, file := filepath.Split(path)
		if dir == "" {
			dir = "."
		}
		dir, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return place{}, err //nolint:wrapcheck // the caller knows what the file is for
		}
		path = filepath.Join(dir, file)
		was, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return place{path: path, fd: -1}, nil
		case err != nil:
			return place{}, err //nolint:wrapcheck // as above
		case was.IsDir():
			return place{}, syscall.EISDIR
		case was.Mode()&fs.ModeSymlink == 0:
			return place{path: path, fd: -1, was: was}, nil
		}
		link, err := os.Readlink(path)
		if err != nil {
			return place{}, err //nolint:wrapcheck // as above
		}
		path = link
		if !filepath.IsAbs(link) {
			path = dir + string(filepath.Separator) + link // not cleaned: a/.. is not . when a is a symlink
		}
	}
	return place{}, syscall.ELOOP
}

// stream writes into what is there.
func (p place) stream(write func(io.Writer) error) error {
	var content bytes.Buffer
	if err := write(&content); err != nil {
		return err
	}
	written := make(chan error, 1)
	go func() { written <- p.pour(content.Bytes()) }()
	select {
	case err := <-written:
		return err
	case <-time.After(streamWait):
		return errUnread
	}
}

func (p place) pour(content []byte) error {
	var file *os.File
	var err error
	if p.fd >= 0 {
		file, err = duplicate(p.fd)
	} else {
		file, err = os.OpenFile(p.path, os.O_WRONLY|os.O_APPEND, 0)
	}
	if err != nil {
		return err //nolint:wrapcheck // the caller of WriteFile knows what the file is for
	}
	_, err = file.Write(content)
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err //nolint:wrapcheck // as above
}

// replace writes a temporary file beside the target and renames it.
func (p place) replace(mode fs.FileMode, write func(io.Writer) error) error {
	first := fs.FileMode(0o600) // until it is fit
	if p.was == nil && mode == 0 {
		first = 0o666
	}
	temp, err := createBeside(p.path, first)
	if err != nil {
		return err
	}
	if p.was != nil {
		keepOwner(temp, p.was)
		mode = p.was.Mode().Perm()
	}
	if mode != 0 {
		err = temp.Chmod(mode)
	}
	if err == nil {
		err = write(temp)
	}
	if closed := temp.Close(); err == nil && !errors.Is(closed, syscall.EINTR) { // it is closed all the same
		err = closed
	}
	if err == nil {
		err = os.Rename(temp.Name(), p.path)
	}
	if err != nil {
		_ = os.Remove(temp.Name()) // the error that is told came first
	}
	return err //nolint:wrapcheck // the caller of WriteFile knows what the file is for
}

// createBeside creates a file of a new name in the directory of another. The
// name ends in nothing that a collector of files looks for. What crashes have
// left there goes.
func createBeside(path string, mode fs.FileMode) (*os.File, error) {
	dir := filepath.Dir(path)
	for n := range maxTemps {
		file, err := os.OpenFile(tempBeside(dir, n), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err == nil {
			sweepBeside(dir, n, file)
		}
		if !errors.Is(err, fs.ErrExist) {
			return file, err //nolint:wrapcheck // the caller of WriteFile knows what the file is for
		}
	}
	return nil, fs.ErrExist
}

func tempBeside(dir string, n int) string {
	return filepath.Join(dir, ".cb-"+strconv.Itoa(n)+".tmp")
}

// sweepBeside removes the first n temporary files where they are much older
// than a new one. That they cannot be removed changes nothing.
func sweepBeside(dir string, n int, file *os.File) {
	now, err := file.Stat()
	for ; err == nil && n > 0; n-- {
		path := tempBeside(dir, n-1)
		if left, gone := os.Lstat(path); gone == nil && now.ModTime().Sub(left.ModTime()) > leftAge {
			_ = os.Remove(path)
		}
	}
}
