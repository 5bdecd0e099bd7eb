// Package store keeps circuits between processes: under a lock, whole after a
// crash, and with a clock that a step of the wall clock does not disturb.
package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"cb/internal/breaker"
)

// Dir keeps one JSON file and one permanent lock file per circuit in a
// directory, which the first Update creates.
type Dir struct {
	// Path is the directory.
	Path string
	// Clock is read once for each reading or change of a circuit; required.
	Clock func() Reading
	// LockWait is how long a change waits for the lock; zero means 5s.
	LockWait time.Duration
	// Prove makes Update write even a circuit that did not change: proof that
	// its outcome will be recorded.
	Prove bool
	// Warn is told, in one line, what did not stop the store; nil: nobody.
	Warn func(message string)

	mu     sync.Mutex
	leases map[leaseKey]*flock.Flock // of the probes that this process runs
	last   recollection
	warned bool // that there are no locks
}

// Update replaces a circuit by what f makes of it, under its lock. A circuit
// that was never seen, or that is damaged, is the zero one. An error of f is
// returned as it is, and nothing is written; other errors are ErrNewer,
// ErrForeign, ErrLocked, the context's, or the system's. The context ends only the wait
// for the lock.
func (d *Dir) Update(ctx context.Context, name string, f func(c breaker.Circuit, now time.Time) (breaker.Circuit, error)) error {
	if err := CheckName(name); err != nil {
		return err
	}
	dir, err := makeFolder(d.Path)
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	defer dir.Close()
	base := baseName(name)
	held, err := d.lock(ctx, dir, base)
	if err != nil {
		return fmt.Errorf("lock circuit %q: %w", name, err)
	}
	defer held.release()
	old, err := d.load(dir, name)
	if err != nil {
		return err
	}
	now := d.Clock()
	before, _ := d.loseDead(base, old.at(now))
	after, err := f(before, now.Wall)
	if err != nil {
		return err
	}
	switch {
	case !d.Prove && sameCircuit(before, after):
	case !d.Prove && dir.countsRefusal(base, old, before, after):
	default:
		if err := d.save(dir, name, held, old, now, after); err != nil {
			return fmt.Errorf("write circuit %q: %w", name, err)
		}
	}
	d.sweepLeases(dir, base, before, after)
	return nil
}

// at returns the circuit with its instants moved along with a wall clock that
// was set since it was written.
func (s snapshot) at(now Reading) breaker.Circuit {
	if step := now.stepped(s.clock); s.found && step != 0 {
		return s.circuit.Shift(step)
	}
	return s.circuit
}

// load reads a circuit for a change. A damaged one is set aside, because it
// must not stop the command.
func (d *Dir) load(dir *folder, name string) (snapshot, error) {
	s, _, err := dir.fetch(name, d.decode)
	if s.uncounted != nil {
		d.warn(fmt.Sprintf("cannot read the count of refusals of %s (%s); it starts anew", name, Cause(s.uncounted)))
	}
	if !errors.Is(err, ErrCorrupt) {
		return s, err
	}
	aside, moved := dir.setAside(baseName(name), d.Clock().Wall)
	if moved != nil {
		return snapshot{}, fmt.Errorf("set aside circuit %q: %w", name, moved)
	}
	d.warn(fmt.Sprintf("%v; kept as %s, and the circuit starts closed", err, aside))
	return snapshot{}, nil
}

// recollection is what a document was found to say.
type recollection struct {
	name     string
	data     []byte // nil: there is none
	snapshot snapshot
}

// decode is decodeToReplace, but for a document that is still as it was when
// it was last read: a run reads its circuit before the command and after.
func (d *Dir) decode(data []byte, name string) (snapshot, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last.data != nil && d.last.name == name && bytes.Equal(d.last.data, data) {
		return d.last.snapshot, nil
	}
	s, err := decodeToReplace(data, name)
	if err == nil {
		c := &s.circuit // what is appended to a list goes to a copy of it
		c.Calls, c.History, c.Probes, c.Used = slices.Clip(c.Calls), slices.Clip(c.History), slices.Clip(c.Probes), slices.Clip(c.Used)
		d.last = recollection{name, data, s}
	}
	return s, err
}

// decoder is decode, decodeToReplace or the Dir's.
type decoder func(data []byte, name string) (snapshot, error)

// fetch reads a circuit as it is stored and returns the document too. A
// circuit that is not there is no error.
func (dir *folder) fetch(name string, decode decoder) (snapshot, []byte, error) {
	data, err := dir.read(baseName(name) + dataEnding)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return snapshot{}, nil, nil
	case errors.Is(err, errUnfit):
		return snapshot{}, nil, fmt.Errorf("circuit %q is %w: %v", name, ErrCorrupt, err)
	case err != nil:
		return snapshot{}, nil, unread{fmt.Errorf("read circuit %q: %w", name, err)}
	}
	s, err := decode.read(data, name)
	if errors.Is(err, ErrForeign) {
		err = fmt.Errorf("read circuit %q: %w", name, foreign{baseName(name) + dataEnding})
	}
	if err == nil {
		s = dir.withRefusals(baseName(name), s)
	}
	return s, data, err
}

// read decodes the document of a circuit; its error is ErrNewer or ErrCorrupt.
func (decode decoder) read(data []byte, name string) (snapshot, error) {
	s, err := decode(data, name)
	switch {
	case errors.Is(err, ErrNewer), errors.Is(err, ErrForeign):
		return snapshot{}, fmt.Errorf("read circuit %q: %w", name, err)
	case err != nil:
		return snapshot{}, fmt.Errorf("circuit %q is %w: %v", name, ErrCorrupt, err)
	}
	return s, nil
}

// save writes a circuit and takes the leases of its new probes, which must be
// held before anybody can see that they are listed.
func (d *Dir) save(dir *folder, name string, held *lock, old snapshot, now Reading, after breaker.Circuit) error {
	base := baseName(name)
	after, taken := d.takeLeases(dir, base, old.circuit, after)
	data, err := encode(document{Name: name, Clock: now, Write: rand.Uint64N(1<<53-1) + 1, Circuit: after}, old)
	if err == nil {
		temp := base + tempEnding
		if held.held == nil {
			temp = uniqueName(temp)
		}
		err = dir.replace(base+dataEnding, temp, data)
	}
	if err != nil {
		d.giveUp(dir, taken)
		return err
	}
	if !old.found || old.circuit.Recorded != after.Recorded {
		if err := dir.sync(); err != nil { // it is written: to try again would count it twice
			d.warn(fmt.Sprintf("cannot sync %s (%s); a power cut may undo the last change of %s", d.Path, Cause(err), name))
		}
	}
	return nil
}

// Close releases the leases that this process holds: its unanswered probes are
// lost. The Dir can be used again.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all error
	for key, held := range d.leases {
		all = errors.Join(all, held.Unlock())
		delete(d.leases, key)
	}
	return all
}

// Place returns the directory's path.
func (d *Dir) Place() string { return d.Path }

func (d *Dir) warn(message string) {
	if d.Warn != nil {
		d.Warn(message)
	}
}

// warnUnlocked tells once that there are no locks.
func (d *Dir) warnUnlocked() {
	d.mu.Lock()
	warned := d.warned
	d.warned = true
	d.mu.Unlock()
	if !warned {
		d.warn(fmt.Sprintf("locks are not supported in %s; runs at the same time may overwrite each other's outcome", d.Path))
	}
}
