package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"cb/internal/breaker"
)

// Remove forgets a circuit if idle, asked under its lock, agrees. It reports
// whether there was something to forget. A damaged circuit is not idle but an
// error, ErrCorrupt; copies of damaged ones that were set aside stay.
func (d *Dir) Remove(ctx context.Context, name string, idle func(c breaker.Circuit, now time.Time) bool) (removed bool, err error) {
	if err := CheckName(name); err != nil {
		return false, err
	}
	dir, err := openFolder(d.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open store: %w", err)
	}
	defer dir.Close()
	base := baseName(name)
	if _, err := dir.Lstat(base + dataEnding); errors.Is(err, fs.ErrNotExist) {
		return false, nil // and no lock file need be made
	}
	held, err := d.lock(ctx, dir, base)
	if err != nil {
		return false, fmt.Errorf("lock circuit %q: %w", name, err)
	}
	defer held.release()
	s, _, err := dir.fetch(name, decode)
	if err != nil || !s.found {
		return false, err
	}
	now := d.Clock()
	c, _ := d.loseDead(base, s.at(now))
	if !idle(c, now.Wall) {
		return false, nil
	}
	for _, key := range d.heldFor(base) {
		d.drop(key)
	}
	// The document goes before what it explains, and the lock file last: without
	// it the others would be unprotected.
	if err := dir.Remove(base + dataEnding); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("remove circuit %q: %w", name, err)
	}
	if err := dir.removeOurs(base); err != nil {
		return true, fmt.Errorf("remove circuit %q: %w", name, err)
	}
	if !dir.isLock(base + lockEnding) {
		return true, nil // it only served as one
	}
	if err := removeLocked(dir.Root, base+lockEnding, held); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return true, fmt.Errorf("remove lock of circuit %q: %w", name, err)
	}
	return true, nil
}
