package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestALockFileThatWasRemovedIsNotTrusted removes a lock file, as prune does,
// while one process holds it and another waits for it.
func TestALockFileThatWasRemovedIsNotTrusted(t *testing.T) {
	d := newDir(t)
	holder := start(t, "hold", d.Path, "deploy")
	holder.ready()
	path := filepath.Join(d.Path, "deploy.lock")
	waiting := make(chan error, 1)
	go func() { waiting <- d.Update(context.Background(), "deploy", increment) }()
	awaitWaiter(t, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second := start(t, "hold", d.Path, "deploy")
	second.ready()
	holder.finish()      // the waiter gets the lock of nothing
	awaitWaiter(t, path) // and must queue up again
	select {
	case err := <-waiting:
		t.Fatalf("got through beside the holder of the new lock: %v", err)
	default:
	}
	second.finish()
	if err := <-waiting; err != nil {
		t.Error(err)
	}
}

// awaitWaiter waits until the kernel lists somebody who waits for the lock.
func awaitWaiter(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	inode := fmt.Sprintf(":%d ", info.Sys().(*syscall.Stat_t).Ino)
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		locks, err := os.ReadFile("/proc/locks")
		if err != nil {
			t.Skip(err)
		}
		for line := range strings.Lines(string(locks)) {
			if strings.Contains(line, "-> FLOCK") && strings.Contains(line, inode) {
				return
			}
		}
	}
	t.Fatal("nobody waits for the lock")
}
