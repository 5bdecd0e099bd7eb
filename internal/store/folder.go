package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// folder is the open directory of a store and what it asks of new files. Its
// Root keeps every name inside.
type folder struct {
	*os.Root
	shared bool // setgid and group-writable: its files are for the group
	uid    int  // whom new files are given to; -1: they stay ours
	gid    int
	owner  int // whom the directory belongs to; -1: unknown
}

// openFolder opens an existing directory.
func openFolder(path string) (*folder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	dir := &folder{Root: root, owner: ownerOf(info)}
	dir.shared, dir.uid, dir.gid = demands(info)
	return dir, nil
}

// makeFolder opens a directory and creates it first when it is missing.
func makeFolder(path string) (*folder, error) {
	dir, err := openFolder(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if err := makeDirectory(path); err != nil {
		return nil, err
	}
	return openFolder(path)
}

// makeDirectory creates an absolute path for the owner alone, and makes sure
// that a power cut does not take it away with a circuit in it.
func makeDirectory(path string) error {
	parent := filepath.Dir(path)
	if parent == path {
		return fs.ErrNotExist
	}
	above, err := openFolder(parent)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeDirectory(parent); err == nil {
			above, err = openFolder(parent)
		}
	}
	if err != nil {
		return err
	}
	defer above.Close()
	above.shared = false // what is above the store says nothing about it
	if err := above.makeDir(filepath.Base(path)); err != nil {
		return err
	}
	return above.sync()
}

// makeDir creates a directory inside; one that exists is left as it is.
func (dir *folder) makeDir(name string) error {
	err := dir.Mkdir(name, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !dir.shared && dir.uid < 0 {
		return nil
	}
	made, err := dir.OpenFile(name, os.O_RDONLY|noFollow|noBlock, 0)
	if err != nil {
		return err
	}
	defer made.Close()
	info, err := made.Stat()
	if err == nil && !info.IsDir() { // replaced meanwhile: it is not ours to give away
		err = fs.ErrExist
	}
	if err != nil {
		return err
	}
	return dir.fit(made, 0o770|fs.ModeSetgid)
}

// fit gives a new file to whom the directory is for.
func (dir *folder) fit(file *os.File, groupMode fs.FileMode) error {
	if dir.uid >= 0 {
		if err := file.Chown(dir.uid, dir.gid); err != nil {
			return err
		}
	}
	if dir.shared {
		return file.Chmod(groupMode)
	}
	return nil
}

// create makes a file that must not exist; fs.ErrExist when it does.
func (dir *folder) create(name string) (*os.File, error) {
	file, err := dir.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow|noBlock, 0o600)
	if err != nil {
		return nil, err
	}
	if err := dir.fit(file, 0o660); err != nil {
		file.Close()
		dir.Remove(name)
		return nil, err
	}
	return file, nil
}

// openRegular opens a regular file; fs.ErrNotExist when there is none, and
// errUnfit when it is something else. What is not a regular file is not even
// opened: a FIFO would block, a symlink is not ours, and Root follows those
// that stay inside, whatever the flags say.
func (dir *folder) openRegular(name string, flag int) (*os.File, fs.FileInfo, error) {
	info, err := dir.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%w: not a regular file", errUnfit)
	}
	file, err := dir.OpenFile(name, flag|noFollow|noBlock, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = file.Stat(); err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%w: not a regular file", errUnfit)
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

// read returns the content of a regular file; fs.ErrNotExist when there is
// none, and errUnfit when it is something else or too large.
func (dir *folder) read(name string) ([]byte, error) {
	file, info, err := dir.openRegular(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info.Size() > maxDocument {
		return nil, fmt.Errorf("%w: larger than %d bytes", errUnfit, maxDocument)
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(file, data)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = nil // it was cut short; decoding will tell
	}
	return data[:n], err
}

// errUnfit says that what stands where a document should be is none.
var errUnfit = errors.New("no document")

// replace puts a document in the place of another in one step. A temporary file
// that a crash has left is removed; whatever else has its name stays, and
// another name is used.
func (dir *folder) replace(name, temp string, data []byte) error {
	file, err := dir.create(temp)
	if errors.Is(err, fs.ErrExist) {
		if !dir.isUnfinished(temp) {
			temp = uniqueName(temp)
		} else if err := dir.Remove(temp); err != nil {
			return err
		}
		file, err = dir.create(temp)
	}
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		// Without this a power cut leaves an empty file on most file systems.
		err = syncData(file)
	}
	if closed := file.Close(); err == nil && !interrupted(closed) { // it is synced, and closed all the same
		err = closed
	}
	if err == nil {
		err = rename(dir.Root, temp, name)
	}
	if err != nil {
		dir.Remove(temp)
	}
	return err
}

// sync makes names that were created or replaced survive a power cut.
func (dir *folder) sync() error {
	self, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer self.Close()
	return syncDirectory(self)
}
