package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// DefaultLockWait is how long Update waits for the lock when Dir does not say.
const DefaultLockWait = 5 * time.Second

// lock is the right to change one circuit.
type lock struct {
	held *flock.Flock // nil: the file system has no locks
}

// release may be called again.
func (l *lock) release() {
	if l.held != nil {
		unlock(l.held)
	}
}

// unlock gives up a lock. The file stays open and locked when that fails, and
// the next change of the same process would wait for itself.
func unlock(file interface{ Unlock() error }) {
	for tries := 0; file.Unlock() != nil && tries < 3; tries++ {
	}
}

// uninterrupted tries to lock until no signal comes in between.
func uninterrupted(try func() (bool, error)) (bool, error) {
	for {
		if locked, err := try(); !interrupted(err) {
			return locked, err
		}
	}
}

// lock takes the lock of a circuit, which is a file of its own because the
// circuit's is replaced. Whoever waited for a lock file that prune has removed
// meanwhile holds the lock of nothing, so the file is compared with the path.
func (d *Dir) lock(ctx context.Context, dir *folder, base string) (*lock, error) {
	wait := d.LockWait
	if wait == 0 {
		wait = DefaultLockWait
	}
	// A timer costs something, and most locks are free.
	expired := sync.OnceValue(func() <-chan time.Time { return time.After(wait) })
	return d.lockBy(dir, base, func(file *flock.Flock) error {
		err := acquire(ctx, file, expired)
		if errors.Is(err, ErrLocked) {
			return fmt.Errorf("waited %v: %w", wait, err)
		}
		return err
	})
}

// tryLock takes the lock if nobody has it; else the error is ErrLocked.
func (d *Dir) tryLock(dir *folder, base string) (*lock, error) {
	return d.lockBy(dir, base, func(file *flock.Flock) error {
		locked, err := uninterrupted(file.TryLock)
		if err == nil && !locked {
			err = ErrLocked
		}
		return err
	})
}

func (d *Dir) lockBy(dir *folder, base string, acquire func(*flock.Flock) error) (*lock, error) {
	name := base + lockEnding
	for {
		file := flock.New(filepath.Join(d.Path, name), flock.SetFlag(os.O_RDWR|noFollow|noBlock))
		err := acquire(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if err := dir.createLock(name); err != nil {
				return nil, err
			}
			continue
		case err != nil && unsupported(err):
			d.warnUnlocked()
			return &lock{}, nil
		case err != nil:
			return nil, err
		}
		current, err := isCurrent(dir, name, file)
		if current {
			return &lock{held: file}, nil
		}
		unlock(file)
		if err != nil {
			return nil, err
		}
	}
}

// isCurrent reports whether the locked file is the one that others will find.
func isCurrent(dir *folder, name string, file *flock.Flock) (bool, error) {
	mine, err := file.Stat()
	if err != nil {
		return false, err
	}
	if !mine.Mode().IsRegular() {
		return false, fmt.Errorf("%s is not a regular file", file.Path())
	}
	found, err := dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, found), err
}

// acquire waits for the lock until that has expired or the context is done.
// One blocking call waits in the kernel's queue; asking again and again starves
// under contention. A wait that was given up releases the lock by itself.
func acquire(ctx context.Context, file *flock.Flock, expired func() <-chan time.Time) error {
	if locked, err := uninterrupted(file.TryLock); locked || err != nil {
		return err
	}
	done, abandoned := make(chan error), make(chan struct{})
	go func() {
		err := file.Lock()
		for interrupted(err) {
			err = file.Lock()
		}
		select {
		case done <- err:
		case <-abandoned:
			unlock(file)
		}
	}()
	select {
	case err := <-done:
		return err
	case <-expired():
		close(abandoned)
		return ErrLocked
	case <-ctx.Done():
		close(abandoned)
		return ctx.Err()
	}
}

// createLock makes a lock file, unless somebody else just did.
func (dir *folder) createLock(name string) error {
	if !dir.shared && dir.uid < 0 {
		return closeNew(dir.create(name))
	}
	// Others may open it at once and must find it fit for them, so it gets its
	// name last.
	temp := uniqueName(name)
	if err := closeNew(dir.create(temp)); err != nil {
		return err
	}
	err := dir.Link(temp, name)
	if removed := dir.Remove(temp); err == nil {
		err = removed
	}
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return closeNew(dir.create(name)) // a file system without hard links
}

// closeNew closes a file that was created only to exist.
func closeNew(file *os.File, err error) error {
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err = file.Close(); interrupted(err) {
		return nil // it is closed all the same
	}
	return err
}

func uniqueName(name string) string { return fmt.Sprintf("%s-%016x", name, rand.Uint64()) }
