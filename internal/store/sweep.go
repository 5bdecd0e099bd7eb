package store

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cb/internal/breaker"
)

// Leftover is something in the store that no circuit needs any more.
type Leftover struct {
	File string // below the store
	Was  string // what it was, in words
}

// unfinishedAge is when a file that is written without a lock has been given up.
const unfinishedAge = time.Hour

// Sweep removes what crashes and forgotten circuits have left behind, and says
// what that was: unfinished writes, leases of probes that are gone, locks of
// circuits that are gone, and of what people may want to look at, copies of
// damaged circuits and outputs without a circuit, those older than age. A
// circuit that is locked by somebody is in use and left alone, and so is what
// may be somebody else's. With dryRun nothing is changed.
func (d *Dir) Sweep(age time.Duration, dryRun bool) ([]Leftover, error) {
	dir, err := openFolder(d.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	defer dir.Close()
	names, err := dir.startingWith("")
	if err != nil {
		return nil, fmt.Errorf("list store: %w", err)
	}
	s := &sweep{d: d, dir: dir, now: d.Clock().Wall, age: age, dryRun: dryRun}
	remains := remainsOf(names)
	for _, base := range slices.Sorted(maps.Keys(remains)) {
		ours := slices.DeleteFunc(remains[base].files, func(file string) bool { return !dir.owns(base, file) })
		if len(ours) == 0 {
			continue
		}
		if err := s.base(base, ours); err != nil {
			return s.found, fmt.Errorf("sweep %s: %w", base, err)
		}
	}
	return s.found, nil
}

// sweep is one call of Sweep.
type sweep struct {
	d      *Dir
	dir    *folder
	now    time.Time
	age    time.Duration
	dryRun bool
	found  []Leftover
}

// remains are the files of one circuit besides its document.
type remains struct {
	document bool
	files    []string
}

// remainsOf sorts the files of a store by circuit, and leaves out circuits that
// have nothing but what they need, and what is not ours.
func remainsOf(names []string) map[string]remains {
	all := map[string]remains{}
	for _, name := range names {
		base, isDocument := baseOf(name)
		if base == "" {
			continue
		}
		r := all[base]
		r.document = r.document || isDocument
		if !isDocument {
			r.files = append(r.files, name)
		}
		all[base] = r
	}
	maps.DeleteFunc(all, func(base string, r remains) bool {
		return r.document && !slices.ContainsFunc(r.files, func(file string) bool {
			return file != base+lockEnding && file != base+refusedEnding && file != base+outputEnding
		})
	})
	return all
}

// baseOf returns the base name of the circuit that a file belongs to, "" when
// it is none of ours.
func baseOf(file string) (base string, isDocument bool) {
	for _, ending := range []string{dataEnding, lockEnding, tempEnding, refusedEnding, outputEnding, probesEnding} {
		if base, ok := strings.CutSuffix(file, ending); ok && isBase(base) {
			return base, ending == dataEnding
		}
	}
	if at := strings.LastIndex(file, corruptEnding); at > 0 && isBase(file[:at]) {
		if _, ok := copiedAt(file[:at], file); ok {
			return file[:at], false
		}
	}
	if unfinished, ok := uniqueOf(file); ok {
		for _, ending := range []string{outputEnding + tempEnding, tempEnding, lockEnding} {
			if base, ok := strings.CutSuffix(unfinished, ending); ok && isBase(base) {
				return base, false
			}
		}
	}
	return "", false
}

func isBase(base string) bool { return isPlain(base) || isHashed(base) }

// uniqueOf undoes uniqueName.
func uniqueOf(file string) (name string, ok bool) {
	at := strings.LastIndexByte(file, '-')
	if at < 0 || !isHex16(file[at+1:]) {
		return "", false
	}
	return file[:at], true
}

// owns reports whether a file, whose name is one of a circuit's, is known to be
// ours.
func (dir *folder) owns(base, file string) bool {
	_, unique := uniqueOf(file)
	switch {
	case file == base+lockEnding:
		return dir.isLock(file)
	case file == base+tempEnding:
		return dir.isUnfinished(file)
	case file == base+refusedEnding:
		return dir.isCount(base)
	case file == base+outputEnding:
		return dir.made(file) && dir.isLock(base+lockEnding)
	case file == base+probesEnding:
		_, ours := dir.leases(base)
		return ours
	case unique && strings.HasPrefix(file, base+lockEnding):
		return dir.isLock(file)
	case unique:
		return dir.made(file)
	}
	return dir.isCopy(base, file)
}

// base sweeps files of one circuit that are ours, under its lock.
func (s *sweep) base(base string, files []string) error {
	lock := base + lockEnding
	if _, err := s.dir.Lstat(lock); s.dryRun && errors.Is(err, fs.ErrNotExist) {
		return s.files(base, files) // taking the lock would make its file
	} else if err == nil && !s.dir.isLock(lock) {
		return nil // somebody else's: they may hold it for what is not our business
	}
	held, err := s.d.tryLock(s.dir, base)
	if errors.Is(err, ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	defer held.release()
	if held.held == nil {
		return nil // without locks nobody knows what is in use
	}
	if err := s.files(base, files); err != nil {
		return err
	}
	if _, err := s.dir.Lstat(base + dataEnding); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if slices.ContainsFunc(files, func(file string) bool { return file != lock && s.stays(file) }) {
		return nil // it is still protected by the lock
	}
	if slices.Contains(files, lock) {
		s.found = append(s.found, Leftover{lock, "the lock of a circuit that is gone"})
	}
	if s.dryRun {
		return nil
	}
	return removeLocked(s.dir.Root, lock, held)
}

// stays reports whether a file is there and not for removal.
func (s *sweep) stays(file string) bool {
	if slices.ContainsFunc(s.found, func(l Leftover) bool { return l.File == file || path.Dir(l.File) == file }) {
		return false
	}
	_, err := s.dir.Lstat(file)
	return err == nil
}

// files sweeps all but the lock. What is there is looked at again, because the
// list was made without the lock.
func (s *sweep) files(base string, files []string) error {
	_, err := s.dir.Lstat(base + dataEnding)
	forgotten := errors.Is(err, fs.ErrNotExist)
	for _, file := range files {
		info, err := s.dir.Lstat(file)
		if err != nil || !s.dir.owns(base, file) {
			continue // gone since
		}
		idle := s.now.Sub(info.ModTime())
		_, unique := uniqueOf(file)
		was := ""
		switch {
		case file == base+tempEnding, unique && idle > unfinishedAge:
			was = "an unfinished write"
		case s.dir.isCopy(base, file) && s.setAside(base, file) > s.age:
			was = "a damaged circuit that was set aside"
		case file == base+refusedEnding && forgotten:
			was = "the count of refusals of a circuit that is gone"
		case file == base+outputEnding && forgotten && idle > s.age:
			was = "the output of a circuit that is gone"
		case file == base+probesEnding:
			if err := s.leases(base, forgotten); err != nil {
				return err
			}
		}
		if was != "" {
			if err := s.remove(file, was); err != nil {
				return err
			}
		}
	}
	return nil
}

// setAside returns how long ago a damaged document was set aside, as its name
// tells.
func (s *sweep) setAside(base, file string) time.Duration {
	at, _ := copiedAt(base, file)
	return s.now.Sub(at)
}

// leases sweeps those of probes that are not listed and whose process is gone.
func (s *sweep) leases(base string, forgotten bool) error {
	var c breaker.Circuit
	if !forgotten {
		name := base
		if isHashed(base) {
			var err error
			if name, err = s.dir.trueName(base); err != nil {
				return nil // damaged: the next run sets it aside
			}
		}
		stored, _, err := s.dir.fetch(name, decode)
		if err != nil {
			return nil
		}
		c = stored.circuit
	}
	tokens, _ := s.dir.leases(base)
	slices.Sort(tokens)
	for _, token := range tokens {
		key := leaseKey{base, token}
		if !lists(c, token) && s.d.dead(key) {
			if err := s.remove(key.path(), "the lease of a probe that is gone"); err != nil {
				return err
			}
		}
	}
	if !s.dryRun {
		s.dir.Remove(base + probesEnding) // fails while there are others
	}
	return nil
}

func (s *sweep) remove(file, was string) error {
	if !s.dryRun {
		if err := s.dir.Remove(file); err != nil {
			return err
		}
	}
	s.found = append(s.found, Leftover{filepath.ToSlash(file), was})
	return nil
}
