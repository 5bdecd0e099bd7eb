package store

import (
	"errors"
	"io/fs"
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
	aside := prefix + now.UTC().Format(corruptTime)
	for {
		_, err := dir.Lstat(aside)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return "", err
		}
		now = now.Add(time.Microsecond)
		aside = prefix + now.UTC().Format(corruptTime)
	}
	if err := rename(dir.Root, base+dataEnding, aside); err != nil {
		return "", err
	}
	dir.forgetOld(prefix, aside)
	return filepath.Join(dir.Name(), aside), nil
}

// forgetOld keeps the newest damaged documents. What cannot be removed stays.
func (dir *folder) forgetOld(prefix, newest string) {
	self, err := dir.Open(".")
	if err != nil {
		return
	}
	defer self.Close()
	names, _ := self.Readdirnames(-1)
	names = slices.DeleteFunc(names, func(name string) bool {
		return name == newest || !strings.HasPrefix(name, prefix)
	})
	slices.Sort(names)
	for _, name := range names[:max(0, len(names)-(keptCorrupt-1))] {
		dir.RemoveAll(name)
	}
}
