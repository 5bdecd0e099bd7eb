package store

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"cb/internal/breaker"
)

func TestDirKeepsTheContract(t *testing.T) {
	testContract(t, func(t *testing.T) subject {
		d := newDir(t)
		path := func(name string) string { return filepath.Join(d.Path, baseName(name)+dataEnding) }
		return subject{
			contractStore: d,
			url:           d.Path,
			get: func(name string) []byte {
				data, err := os.ReadFile(path(name))
				if err != nil {
					t.Fatal(err)
				}
				return data
			},
			set: func(name string, data []byte) {
				if err := os.MkdirAll(d.Path, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path(name), data, 0o600); err != nil {
					t.Fatal(err)
				}
			},
		}
	})
}

// newDir returns an empty store whose directory does not exist yet. Its
// warnings are errors.
func newDir(t *testing.T) *Dir {
	t.Helper()
	d := &Dir{
		Path:     filepath.Join(t.TempDir(), "state", "cb"),
		Clock:    SystemClock,
		LockWait: time.Minute,
		Warn:     func(message string) { t.Errorf("warning: %s", message) },
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// files returns the names in the store's directory, with those in its
// directories of leases.
func files(t *testing.T, d *Dir) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(d.Path, func(path string, _ os.DirEntry, err error) error {
		if name, _ := filepath.Rel(d.Path, path); name != "." {
			names = append(names, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func wantFiles(t *testing.T, d *Dir, want ...string) {
	t.Helper()
	if got := files(t, d); !slices.Equal(got, want) {
		t.Errorf("the directory has %q, want %q", got, want)
	}
}

func TestUpdateWritesOnlyWhatChanged(t *testing.T) {
	d := newDir(t)
	update(t, d, "deploy", increment)
	path := filepath.Join(d.Path, "deploy.json")
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	same := func(c breaker.Circuit, _ time.Time) (breaker.Circuit, error) { return c, nil }
	for _, prove := range []bool{false, true} {
		d.Prove = prove
		update(t, d, "deploy", same)
		after, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if written := !os.SameFile(before, after); written != prove {
			t.Errorf("Prove %v: written %v", prove, written)
		}
	}
	update(t, d, "unseen", same)
	wantFiles(t, d, "deploy.json", "deploy.lock", "unseen.json", "unseen.lock")
}

func TestUpdateLeavesNothingBehind(t *testing.T) {
	d := newDir(t)
	update(t, d, "deploy", increment)
	update(t, d, "deploy", addProbe("00000000000000aa"))
	wantFiles(t, d, "deploy.json", "deploy.lock", "deploy.probes", "deploy.probes/00000000000000aa")
	update(t, d, "deploy", put(breaker.Circuit{}))
	wantFiles(t, d, "deploy.json", "deploy.lock")
	update(t, d, "deploy", addProbe("00000000000000bb"))
	yes := func(breaker.Circuit, time.Time) bool { return true }
	if removed, err := d.Remove(context.Background(), "deploy", yes); !removed || err != nil {
		t.Errorf("Remove: %v, %v", removed, err)
	}
	wantFiles(t, d)
}

func TestReadingsChangeNothing(t *testing.T) {
	d := newDir(t)
	for _, name := range []string{"deploy", "Deploy API"} {
		update(t, d, name, put(typical(SystemClock().Wall)))
	}
	update(t, d, "damaged", increment)
	if err := os.WriteFile(filepath.Join(d.Path, "damaged.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	holder := start(t, "probe", d.Path, "probing")
	holder.ready()
	holder.kill()
	before := snapshotOf(t, d.Path)
	for range 100 {
		for _, name := range []string{"deploy", "Deploy API", "damaged", "probing", "unseen"} {
			d.Read(name)
		}
		for range d.List() {
		}
		d.Names()
	}
	if after := snapshotOf(t, d.Path); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

func TestReadingsDoNotMakeTheStore(t *testing.T) {
	d := newDir(t)
	d.Read("deploy")
	d.Names()
	for range d.List() {
	}
	if _, err := os.Stat(filepath.Dir(d.Path)); !os.IsNotExist(err) {
		t.Errorf("the directory above is there: %v", err)
	}
}

// snapshotOf describes all that there is below a directory.
func snapshotOf(t *testing.T, path string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(path, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		var data []byte
		if info.Mode().IsRegular() {
			if data, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		fmt.Fprintln(&all, path, info.Mode(), info.ModTime(), info.Size(), len(bytes.TrimSpace(data)), string(data))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestAStoreThatIsAFile(t *testing.T) {
	d := newDir(t)
	if err := os.MkdirAll(filepath.Dir(d.Path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.Path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := d.Update(context.Background(), "deploy", increment)
	if err == nil || Cause(err) != "not a directory" {
		t.Errorf("Update: %v", err)
	}
	if _, _, _, err := d.Read("deploy"); err == nil {
		t.Error("Read succeeds")
	}
	if _, err := d.Names(); err == nil {
		t.Error("Names succeeds")
	}
	listed := 0
	for _, err := range d.List() {
		if listed++; err == nil {
			t.Error("List succeeds")
		}
	}
	if listed != 1 {
		t.Errorf("List has %d elements, want the error", listed)
	}
}

func TestCause(t *testing.T) {
	deep := &os.PathError{Op: "open", Path: "x", Err: syscall.ENOSPC}
	for _, test := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("write circuit %q: %w", "a", deep), syscall.ENOSPC.Error()},
		{fmt.Errorf("read: %w", ErrNewer), "written by a newer version of cb"},
		{fmt.Errorf("lock: %w", fmt.Errorf("waited 5s: %w", ErrLocked)), "locked by another process"},
	} {
		if got := Cause(test.err); got != test.want {
			t.Errorf("Cause(%v) = %q, want %q", test.err, got, test.want)
		}
	}
}

func TestListIsInOrderAndComplete(t *testing.T) {
	d := newDir(t)
	fill(t, d, 3*listBatch+1)
	next := 0
	for entry, err := range d.List() {
		if want := fmt.Sprintf("circuit-%05d", next); err != nil || entry.Name != want {
			t.Fatalf("element %d is %q, %v", next, entry.Name, err)
		}
		next++
	}
	if next != 3*listBatch+1 {
		t.Errorf("%d circuits", next)
	}
	for range d.List() {
		break // must stop without a trace
	}
}
