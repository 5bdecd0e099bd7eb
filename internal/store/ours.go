package store

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A store may be a directory that is shared with other things, where yarn.lock
// and notes.tmp are somebody else's. What is removed or written over is known
// by more than its name; when in doubt it stays.

// made reports whether a file is a regular one that was created as this
// package creates them.
func (dir *folder) made(name string) bool {
	info, err := dir.Lstat(name)
	return err == nil && info.Mode().IsRegular() && dir.madeAs(info)
}

func (dir *folder) madeAs(info fs.FileInfo) bool {
	if !ourMode(info.Mode(), dir.shared) {
		return false
	}
	owner := ownerOf(info)
	return dir.shared || owner == dir.owner || owner == os.Geteuid()
}

// isLock reports whether a file is a lock: those are empty for ever.
func (dir *folder) isLock(name string) bool {
	info, err := dir.Lstat(name)
	return err == nil && info.Mode().IsRegular() && info.Size() == 0 && dir.madeAs(info)
}

// isUnfinished reports whether a file with the name of a temporary one is what
// a crash can have left: the beginning of a document, or NULs.
func (dir *folder) isUnfinished(name string) bool {
	if !dir.made(name) {
		return false
	}
	start := []byte(documentStart)
	data, err := dir.head(name, len(start))
	return err == nil && (bytes.HasPrefix(start, data) || len(bytes.Trim(data, "\x00")) == 0)
}

// head returns the first bytes of a regular file, all of one that is shorter.
func (dir *folder) head(name string, most int) ([]byte, error) {
	file, _, err := dir.openRegular(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, int64(most)))
}

// isCount reports whether what lies at the place of a circuit's count of
// refusals is one. One that was cut short says too little by itself: it needs a
// lock beside it.
func (dir *folder) isCount(base string) bool {
	name := base + refusedEnding
	data, err := dir.read(name)
	return err == nil && dir.made(name) && isCountText(data) && (len(data) == countSize || dir.isLock(base+lockEnding))
}

// isCopy reports whether a file is a damaged document that was set aside.
func (dir *folder) isCopy(base, name string) bool {
	_, ok := copiedAt(base, name)
	if !ok {
		return false
	}
	info, err := dir.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}

// copiedAt tells from its name when a document was set aside; ok is false when
// the name is not that of such a copy.
func copiedAt(base, name string) (at time.Time, ok bool) {
	text, ok := strings.CutPrefix(name, base+corruptEnding)
	if !ok {
		return time.Time{}, false
	}
	at, err := time.Parse(corruptTime, text)
	return at, err == nil && at.Format(corruptTime) == text
}

// isLease reports whether a file is the lease of a probe.
func (dir *folder) isLease(key leaseKey) bool {
	return isHex16(key.token) && dir.isLock(key.path())
}

// leases returns the tokens of a circuit's leases. It reports that their
// directory is not ours when there is anything else in it.
func (dir *folder) leases(base string) (tokens []string, ours bool) {
	info, err := dir.Lstat(base + probesEnding)
	if err != nil || !info.IsDir() || !dir.madeAs(info) {
		return nil, false
	}
	folder, err := dir.OpenFile(base+probesEnding, os.O_RDONLY|noFollow|noBlock, 0)
	if err != nil {
		return nil, false
	}
	defer folder.Close()
	if tokens, err = folder.Readdirnames(-1); err != nil {
		return nil, false
	}
	for _, token := range tokens {
		key := leaseKey{base, token}
		if _, err := dir.Lstat(key.path()); errors.Is(err, fs.ErrNotExist) {
			continue // gone since
		}
		if !dir.isLease(key) {
			return nil, false
		}
	}
	return tokens, true
}

// removeOurs removes what a circuit has besides its document and its lock.
func (dir *folder) removeOurs(base string) error {
	count, temp, output := base+refusedEnding, base+tempEnding, base+outputEnding
	for file, ours := range map[string]bool{
		count: dir.isCount(base), temp: dir.isUnfinished(temp), output: dir.made(output),
	} {
		if !ours {
			continue
		}
		if err := dir.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove %s: %w", file, err)
		}
	}
	tokens, ours := dir.leases(base)
	for _, token := range tokens {
		dir.Remove(filepath.Join(base+probesEnding, token))
	}
	if ours {
		dir.Remove(base + probesEnding)
	}
	return nil
}

// isHex16 reports whether a text is a number as this package writes them.
func isHex16(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) == 16 && strings.ToLower(text) == text
}
