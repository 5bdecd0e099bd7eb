package store

import (
	"encoding/hex"
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
// circuit that is locked by somebody is in use and left alone. With dryRun
// nothing is changed.
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
		if err := s.base(base, remains[base]); err != nil {
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
		return file[:at], false
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
	if at < 0 || len(file)-at-1 != 16 {
		return "", false
	}
	_, err := hex.DecodeString(file[at+1:])
	return file[:at], err == nil
}

// base sweeps the files of one circuit, under its lock.
func (s *sweep) base(base string, r remains) error {
	if s.dryRun && !slices.Contains(r.files, base+lockEnding) {
		return s.files(base, r) // taking the lock would make its file
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
	if err := s.files(base, r); err != nil {
		return err
	}
	if _, err := s.dir.Lstat(base + dataEnding); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	lock := base + lockEnding
	if slices.ContainsFunc(r.files, func(file string) bool { return file != lock && s.stays(file) }) {
		return nil // it is still protected by the lock
	}
	if slices.Contains(r.files, lock) {
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
func (s *sweep) files(base string, r remains) error {
	_, err := s.dir.Lstat(base + dataEnding)
	forgotten := errors.Is(err, fs.ErrNotExist)
	for _, file := range r.files {
		info, err := s.dir.Lstat(file)
		if err != nil {
			continue // gone since
		}
		idle := s.now.Sub(info.ModTime())
		_, unique := uniqueOf(file)
		was := ""
		switch {
		case file == base+tempEnding, unique && idle > unfinishedAge:
			was = "an unfinished write"
		case strings.HasPrefix(file, base+corruptEnding) && s.setAside(base, file, info) > s.age:
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
func (s *sweep) setAside(base, file string, info fs.FileInfo) time.Duration {
	at, err := time.Parse(corruptTime, strings.TrimPrefix(file, base+corruptEnding))
	if err != nil {
		at = info.ModTime()
	}
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
	folder, err := s.dir.Open(base + probesEnding)
	if err != nil {
		return nil
	}
	tokens, err := folder.Readdirnames(-1)
	folder.Close()
	if err != nil {
		return nil
	}
	slices.Sort(tokens)
	for _, token := range tokens {
		key := leaseKey{base, token}
		if isToken(token) && !lists(c, token) && s.d.dead(key) {
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
		if err := s.dir.RemoveAll(file); err != nil {
			return err
		}
	}
	s.found = append(s.found, Leftover{filepath.ToSlash(file), was})
	return nil
}
