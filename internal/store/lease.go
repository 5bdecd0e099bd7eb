package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gofrs/flock"

	"cb/internal/breaker"
)

// A lease is a file that a running probe keeps locked. The kernel drops the
// lock when its process is gone, however it went, so whoever can lock the file
// knows that the probe is lost.

// leaseKey names a lease.
type leaseKey struct {
	base  string // of the circuit
	token string
}

// path is relative to the store's directory.
func (k leaseKey) path() string { return filepath.Join(k.base+probesEnding, k.token) }

// takeLeases takes a lease for each probe that is new in the circuit and asks
// for one. A probe that cannot have one is left to its limit. It returns the
// circuit to be written and the leases taken.
func (d *Dir) takeLeases(dir *folder, base string, before, after breaker.Circuit) (breaker.Circuit, []leaseKey) {
	var taken []leaseKey
	after.Probes = slices.Clone(after.Probes)
	for i := range after.Probes {
		probe := &after.Probes[i]
		if !probe.Leased || lists(before, probe.Token) {
			continue
		}
		key := leaseKey{base, probe.Token}
		if probe.Leased = d.takeLease(dir, key); probe.Leased {
			taken = append(taken, key)
		}
	}
	return after, taken
}

// takeLease reports whether it could. It is called under the circuit's lock.
func (d *Dir) takeLease(dir *folder, key leaseKey) bool {
	if !isToken(key.token) || dir.makeDir(key.base+probesEnding) != nil {
		return false
	}
	if file, err := dir.create(key.path()); err != nil || closeNew(file, nil) != nil {
		return false
	}
	held := flock.New(filepath.Join(d.Path, key.path()), flock.SetFlag(os.O_RDWR|noFollow|noBlock))
	if locked, err := uninterrupted(held.TryLock); !locked || err != nil {
		dir.Remove(key.path())
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.leases == nil {
		d.leases = map[leaseKey]*flock.Flock{}
	}
	d.leases[key] = held
	return true
}

// dead reports whether the holder of a lease is gone. When it cannot be told
// the probe is left to its limit.
func (d *Dir) dead(key leaseKey) bool {
	if d.holds(key) {
		return false
	}
	if !isToken(key.token) {
		return true
	}
	// A shared lock, so that two who ask at a time do not take each other for
	// the holder.
	test := flock.New(filepath.Join(d.Path, key.path()), flock.SetFlag(os.O_RDONLY|noFollow|noBlock))
	free, err := uninterrupted(test.TryRLock)
	if free {
		unlock(test)
	}
	return free || errors.Is(err, fs.ErrNotExist)
}

func (d *Dir) holds(key leaseKey) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.leases[key] != nil
}

// loseDead marks the probes whose process is gone.
func (d *Dir) loseDead(base string, c breaker.Circuit) (lost breaker.Circuit, some bool) {
	for _, probe := range c.Probes {
		if probe.Leased && d.dead(leaseKey{base, probe.Token}) {
			c, some = c.Lose(probe.Token), true
		}
	}
	return c, some
}

// sweepLeases removes the leases of probes that are no longer listed: ours,
// and under the same lock whatever a crash has left. It is called after the
// circuit was written and does nothing unless a probe has gone.
func (d *Dir) sweepLeases(dir *folder, base string, before, after breaker.Circuit) {
	gone := slices.ContainsFunc(before.Probes, func(probe breaker.Probe) bool {
		return probe.Leased && !lists(after, probe.Token)
	})
	for _, key := range d.heldFor(base) {
		if !lists(after, key.token) {
			d.drop(key)
			gone = true
		}
	}
	if !gone {
		return
	}
	tokens, ours := dir.leases(base)
	for _, token := range tokens {
		key := leaseKey{base, token}
		if !lists(after, token) && d.dead(key) {
			dir.Remove(key.path())
		}
	}
	if ours {
		dir.Remove(base + probesEnding) // fails while there are others
	}
}

// giveUp releases leases whose probes were not written after all.
func (d *Dir) giveUp(dir *folder, taken []leaseKey) {
	for _, key := range taken {
		d.drop(key)
		dir.Remove(key.path())
		dir.Remove(key.base + probesEnding) // fails while there are others
	}
}

// heldFor returns the leases that this process holds for a circuit.
func (d *Dir) heldFor(base string) []leaseKey {
	d.mu.Lock()
	defer d.mu.Unlock()
	var held []leaseKey
	for key := range d.leases {
		if key.base == base {
			held = append(held, key)
		}
	}
	return held
}

func (d *Dir) drop(key leaseKey) {
	d.mu.Lock()
	defer d.mu.Unlock()
	unlock(d.leases[key])
	delete(d.leases, key)
}

func lists(c breaker.Circuit, token string) bool {
	return slices.ContainsFunc(c.Probes, func(probe breaker.Probe) bool { return probe.Token == token })
}

// isToken reports whether a token, which may come from a file, can be a file
// name.
func isToken(token string) bool {
	return token != "" && len(token) <= 64 && !slices.ContainsFunc([]byte(token), func(b byte) bool {
		return (b < '0' || b > '9') && (b < 'a' || b > 'z')
	})
}
