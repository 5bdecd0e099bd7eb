package store

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// keptCorrupt is how many damaged documents are kept for each circuit.
const keptCorrupt = 3

// corruptTime is a time that sorts by name, without the colons that Windows
// does not allow.
const corruptTime = "20060102T150405.000000Z"

// setAside moves a damaged document out of the way, whatever it is, and
// removes the oldest of those that were moved before. It returns the new path.
func (dir *folder) setAside(base string, now time.Time) (string, error) {
	prefix := base + corruptEnding
	names, err := dir.startingWith(prefix)
	if err != nil {
		return "", err
	}
	kept := slices.DeleteFunc(names, func(name string) bool { return !dir.isCopy(base, name) })
	if len(kept) > 0 {
		// The newest must sort last even when the clock was set back.
		if last, _ := copiedAt(base, kept[len(kept)-1]); !now.After(last) {
			now = last.Add(time.Microsecond)
		}
	}
	aside := prefix + now.UTC().Format(corruptTime)
	if err := rename(dir.Root, base+dataEnding, aside); err != nil {
		return "", err
	}
	for _, name := range kept[:max(0, len(kept)-(keptCorrupt-1))] {
		dir.Remove(name) // what cannot be removed stays
	}
	return filepath.Join(dir.Name(), aside), nil
}

// startingWith returns the names in the directory that have a prefix, sorted.
func (dir *folder) startingWith(prefix string) ([]string, error) {
	self, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer self.Close()
	names, err := self.Readdirnames(-1)
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, prefix) })
	slices.Sort(names)
	return names, err
}
