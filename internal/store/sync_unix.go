//go:build unix && !linux

package store

import "os"

// syncData makes the content of a new file survive a power cut.
func syncData(file *os.File) error { return file.Sync() }
