//go:build unix

package config

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestReadWaitsForNobody reads what would block, and the null device, which is
// the usual way to have no configuration.
func TestReadWaitsForNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	var wrong *Error
	if _, err := Read(path); !errors.As(err, &wrong) || wrong.Hint == "" {
		t.Errorf("a FIFO: %v", err)
	}
	if file, err := Read(os.DevNull); err != nil || !file.Found || len(file.Settings) > 0 {
		t.Errorf("the null device: %+v, %v", file, err)
	}
}
