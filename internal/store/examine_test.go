package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"

	"cb/internal/breaker"
	"cb/internal/redistest"
)

func TestExamineLeavesNothingBehind(t *testing.T) {
	d := newDir(t)
	above := filepath.Dir(d.Path)
	missing := &Dir{Path: filepath.Join(d.Path, "x", "y"), Clock: d.Clock}
	update(t, d, "deploy", put(breaker.Circuit{Streak: 1}))
	files := func() string { // the directory itself has been written to
		_, all, _ := strings.Cut(snapshotOf(t, d.Path), "\n")
		return all
	}
	before := files()
	for _, dir := range []*Dir{d, missing} {
		e, err := dir.Examine()
		if err != nil || e.Write != nil || e.Lock != nil || e.Dir != d.Path || e.Exists != (dir == d) {
			t.Errorf("%s: %+v, %v", dir.Path, e, err)
		}
	}
	if after := files(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if entries, err := os.ReadDir(above); err != nil || len(entries) > 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestExamineOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, filepath.Join(path, "below")} {
		if e, err := (&Dir{Path: path}).Examine(); err == nil {
			t.Errorf("%s: %+v", path, e)
		}
	}
}

func TestLocksAreTried(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := tryLocks(path); err == nil {
		t.Error("a file that is not there could be locked")
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := tryLocks(path); err != nil {
		t.Error(err)
	}
	other := flock.New(path)
	if locked, err := other.TryLock(); !locked {
		t.Fatal(err)
	}
	if err := tryLocks(path); !errors.Is(err, ErrLocked) {
		t.Errorf("locked by another: %v", err)
	}
	other.Unlock()
	if err := tryLocks(path); err != nil {
		t.Errorf("after that: %v", err)
	}
}

func TestExamineServer(t *testing.T) {
	server := redistest.Start(t, "--requirepass", "secret", "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
	open := func(user string) *Redis {
		r, err := OpenRedis("redis://"+user+server.Addr, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		return r
	}
	found, err := open(":secret@").Examine(t.Context())
	if err != nil || len(found) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	s := found[0]
	if s.Addr != server.Addr || !strings.Contains(s.Version, " ") || s.Role != "master" || s.Eviction != "allkeys-lru" ||
		s.Trip <= 0 || s.Ahead.Abs() > clockTolerance {
		t.Errorf("%+v", s)
	}
	if names, err := open(":secret@").Names(); err != nil || len(names) > 0 {
		t.Errorf("it left %v, %v", names, err)
	}
	for _, user := range []string{"", ":wrong-word@"} {
		if found, err := open(user).Examine(t.Context()); err == nil || strings.Contains(err.Error(), "wrong-word") {
			t.Errorf("%q: %+v, %v", user, found, err)
		}
	}
}

// clockTolerance is what a busy machine may take between two looks at its own clock.
const clockTolerance = 5e9

func TestExamineReplica(t *testing.T) {
	server := redistest.Start(t)
	replica := redistest.Start(t, "--replicaof", "127.0.0.1 "+server.Port)
	r, err := OpenRedis(replica.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	found, err := r.Examine(t.Context())
	if len(found) != 1 || found[0].Role != "slave" || err == nil {
		t.Errorf("%+v, %v", found, err)
	}
}
