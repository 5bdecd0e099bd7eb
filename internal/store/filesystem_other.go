//go:build !linux && !darwin && !freebsd && !windows

package store

// fileSystem cannot tell.
func fileSystem(string) (system string, free uint64) { return "", 0 }
