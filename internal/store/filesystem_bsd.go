//go:build darwin || freebsd

package store

import "golang.org/x/sys/unix"

// fileSystem returns the type of the file system of a directory, and how many
// bytes its user may still write.
func fileSystem(dir string) (system string, free uint64) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil || int64(s.Bavail) < 0 {
		return "", 0
	}
	return unix.ByteSliceToString(s.Fstypename[:]), uint64(s.Bavail) * uint64(s.Bsize) //nolint:unconvert // signed on one of them
}
