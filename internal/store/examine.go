package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// Examination is what can be said of a directory store without a look at its
// circuits.
type Examination struct {
	// Dir is where things were tried: the store, or the nearest directory above
	// it when it does not exist.
	Dir    string
	Exists bool
	Mode   fs.FileMode
	Owner  int    // a user's number; -1: unknown
	System string // the type of the file system, such as "ext4"; "" when nobody can tell
	Free   uint64 // bytes that this user may still write; only with System

	Write error // why no file could be written, synced, replaced and removed
	Lock  error // why no lock could be taken; ErrNoLocks, ErrNoExclusion
}

// ErrNoLocks says that the file system has no locks.
var ErrNoLocks = errors.New("the file system has no locks")

// ErrNoExclusion says that two could hold a lock at the same time.
var ErrNoExclusion = errors.New("a second lock was granted while the first was held")

// Examine tries, with files of its own that it removes again, what circuits
// need of the directory. Its error says that there is no directory.
func (d *Dir) Examine() (Examination, error) {
	path, err := filepath.Abs(d.Path)
	if err != nil {
		return Examination{}, fmt.Errorf("locate store: %w", err)
	}
	e := Examination{Dir: path, Exists: true, Owner: -1}
	dir, err := openFolder(path)
	for ; errors.Is(err, fs.ErrNotExist) && filepath.Dir(e.Dir) != e.Dir; dir, err = openFolder(e.Dir) {
		e.Dir, e.Exists = filepath.Dir(e.Dir), false
	}
	if err != nil {
		return e, fmt.Errorf("open store: %w", err)
	}
	defer dir.Close()
	if info, err := dir.Stat("."); err == nil {
		e.Mode, e.Owner = info.Mode(), ownerOf(info)
	}
	e.System, e.Free = fileSystem(e.Dir)
	if !e.Exists {
		dir.shared, dir.uid = false, -1 // what is above the store says nothing about it
	}
	// Sweep knows these names, should nobody live to remove them.
	name := "doctor" + tempEnding
	first, second := uniqueName(name), uniqueName(name)
	if e.Write = dir.replace(first, second, []byte("{}\n")); e.Write == nil {
		e.Lock = tryLocks(filepath.Join(e.Dir, first))
		e.Write = dir.Remove(first)
	}
	return e, nil
}

// tryLocks locks a file twice, of which the second must have to wait.
func tryLocks(path string) error {
	first := flock.New(path, flock.SetFlag(os.O_RDWR|noFollow|noBlock))
	second := flock.New(path, flock.SetFlag(os.O_RDWR|noFollow|noBlock))
	defer first.Unlock()
	defer second.Unlock()
	switch locked, err := first.TryLock(); {
	case err != nil && unsupported(err):
		return ErrNoLocks
	case err != nil:
		return fmt.Errorf("lock: %w", err)
	case !locked:
		return ErrLocked
	}
	if locked, err := second.TryLock(); locked || err != nil {
		return errors.Join(err, ErrNoExclusion)
	}
	if err := first.Unlock(); err != nil {
		return fmt.Errorf("unlock: %w", err)
	}
	if locked, err := second.TryLock(); !locked || err != nil {
		return errors.Join(err, errors.New("a lock that was given up is still held"))
	}
	return nil
}
