//go:build unix

package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"cb/internal/breaker"
)

func TestFilesAreForTheOwnerAlone(t *testing.T) {
	for _, mask := range []int{0, 0o022, 0o077} {
		old := syscall.Umask(mask)
		d := newDir(t)
		update(t, d, "deploy", addProbe("00000000000000aa"))
		syscall.Umask(old)
		for path, want := range map[string]os.FileMode{
			"..": os.ModeDir | 0o700, ".": os.ModeDir | 0o700, "deploy.json": 0o600, "deploy.lock": 0o600,
			"deploy.probes": os.ModeDir | 0o700, "deploy.probes/00000000000000aa": 0o600,
		} {
			wantMode(t, filepath.Join(d.Path, path), want)
		}
		d.Close()
	}
}

func wantMode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != want {
		t.Errorf("%s is %v, want %v", path, info.Mode(), want)
	}
}

func TestASharedDirectoryHasFilesForItsGroup(t *testing.T) {
	d := newDir(t)
	shareDir(t, d, os.Getgid())
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	update(t, d, "deploy", addProbe("00000000000000aa"))
	update(t, d, "deploy", increment)
	for path, want := range map[string]os.FileMode{
		"deploy.json": 0o660, "deploy.lock": 0o660,
		"deploy.probes": os.ModeDir | os.ModeSetgid | 0o770, "deploy.probes/00000000000000aa": 0o660,
	} {
		wantMode(t, filepath.Join(d.Path, path), want)
	}
	wantFiles(t, d, "deploy.json", "deploy.lock", "deploy.probes", "deploy.probes/00000000000000aa")
}

// shareDir makes the directory that people make who share circuits.
func shareDir(t *testing.T, d *Dir, gid int) {
	t.Helper()
	if err := os.MkdirAll(d.Path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(d.Path, -1, gid); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(d.Path, os.ModeSetgid|0o770); err != nil {
		t.Fatal(err)
	}
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
}

// reachable lets other users come to a directory below that of the test.
func reachable(t *testing.T, path string) {
	t.Helper()
	for dir := filepath.Dir(path); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTwoUsersShareCircuits(t *testing.T) {
	needRoot(t)
	const group = 54321
	d := newDir(t)
	shareDir(t, d, group)
	reachable(t, d.Path)
	var children []*child
	for uid := range uint32(6) {
		who := &syscall.Credential{Uid: 54000 + uid%2, Gid: 54000, Groups: []uint32{group}}
		children = append(children, startAs(t, who, "count", d.Path, "20", "deploy", "API"))
	}
	for _, c := range children {
		c.finish()
	}
	for _, name := range []string{"deploy", "API"} {
		if got := read(t, d, name).Totals.Successes; got != 120 {
			t.Errorf("%s: %d updates, want 120", name, got)
		}
	}
	// One user's probe is alive, and lost, to the other.
	holder := startAs(t, &syscall.Credential{Uid: 54000, Gid: 54000, Groups: []uint32{group}}, "probe", d.Path, "deploy")
	holder.ready()
	other := &syscall.Credential{Uid: 54001, Gid: 54001, Groups: []uint32{group}}
	if got := startAs(t, other, "lost", d.Path, "deploy").line(); got != "0" {
		t.Errorf("the other user sees %s lost probes", got)
	}
	holder.kill()
	if got := startAs(t, other, "lost", d.Path, "deploy").line(); got != "1" {
		t.Errorf("the other user sees %s lost probes, want 1", got)
	}
}

func TestRootGivesFilesToTheOwnerOfTheDirectory(t *testing.T) {
	needRoot(t)
	d := newDir(t)
	home := filepath.Dir(filepath.Dir(d.Path))
	if err := os.Chown(home, 54000, 54001); err != nil {
		t.Fatal(err)
	}
	reachable(t, home)
	update(t, d, "deploy", addProbe("00000000000000aa"))
	for _, path := range []string{"..", ".", "deploy.json", "deploy.lock", "deploy.probes", "deploy.probes/00000000000000aa"} {
		info, err := os.Stat(filepath.Join(d.Path, path))
		if err != nil {
			t.Fatal(err)
		}
		if owner := info.Sys().(*syscall.Stat_t); owner.Uid != 54000 || owner.Gid != 54001 || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %d:%d %v", path, owner.Uid, owner.Gid, info.Mode())
		}
	}
	c := startAs(t, &syscall.Credential{Uid: 54000, Gid: 54001}, "count", d.Path, "3", "deploy")
	c.finish()
	if got := read(t, d, "deploy").Totals.Successes; got != 3 {
		t.Errorf("the owner made %d updates, want 3", got)
	}
}

func TestAReadOnlyStoreCanBeRead(t *testing.T) {
	needRoot(t) // to become somebody who may not write
	d := newDir(t)
	update(t, d, "deploy", increment)
	reachable(t, d.Path)
	for path, mode := range map[string]os.FileMode{".": 0o555, "deploy.json": 0o444, "deploy.lock": 0o444} {
		if err := os.Chmod(filepath.Join(d.Path, path), mode); err != nil {
			t.Fatal(err)
		}
	}
	who := &syscall.Credential{Uid: 54000, Gid: 54000}
	for _, name := range []string{"deploy", "unseen"} {
		if got := startAs(t, who, "cause", d.Path, name).line(); got != "permission denied" {
			t.Errorf("Update(%q): %q", name, got)
		}
	}
	if got := startAs(t, who, "lost", d.Path, "deploy").line(); got != "0" {
		t.Errorf("Read: %q", got)
	}
	wantFiles(t, d, "deploy.json", "deploy.lock")
}

// startAs runs a job as another user. The binary need not be reachable by its
// path.
func startAs(t *testing.T, who *syscall.Credential, job, url string, args ...string) *child {
	t.Helper()
	c := newChild(t, "/proc/self/exe", job, url, args...)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	return c.start()
}

// plant puts something that is no regular file of ours at a path, and returns
// a check that nothing was done to what it leads to.
func plant(t *testing.T, kind, path string) (unharmed func()) {
	t.Helper()
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(filepath.Dir(path), "victim")
	var err error
	switch kind {
	case "symlink":
		err = os.Symlink(victim, path)
	case "symlink inside":
		if err = os.Rename(victim, inside); err == nil {
			victim = inside
			err = os.Symlink("victim", path)
		}
	case "dangling symlink":
		err = os.Symlink(inside, path)
	case "hard link":
		err = os.Link(victim, path)
	case "FIFO":
		err = syscall.Mkfifo(path, 0o600)
	case "directory":
		err = os.Mkdir(path, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		data, err := os.ReadFile(victim)
		info, _ := os.Stat(victim)
		if err != nil || string(data) != "precious" || info.Mode() != 0o644 {
			t.Errorf("the victim has %q, %v, %v", data, info, err)
		}
		if kind == "dangling symlink" {
			if _, err := os.Lstat(inside); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the link was followed: %v", err)
			}
		}
	}
}

func TestPlantedFiles(t *testing.T) {
	for _, kind := range []string{"symlink", "symlink inside", "dangling symlink", "hard link", "FIFO", "directory"} {
		for _, ending := range []string{dataEnding, tempEnding, lockEnding} {
			t.Run(kind+" at "+ending, func(t *testing.T) {
				d := newDir(t)
				var warnings []string
				d.Warn = func(message string) { warnings = append(warnings, message) }
				if err := os.MkdirAll(d.Path, 0o700); err != nil {
					t.Fatal(err)
				}
				unharmed := plant(t, kind, filepath.Join(d.Path, "deploy"+ending))
				defer unharmed()
				d.Read("deploy")
				for range d.List() {
				}
				err := within(t, func() error { return d.Update(context.Background(), "deploy", increment) })
				if ending == lockEnding && kind != "hard link" {
					if err == nil {
						t.Error("Update trusts the lock")
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := read(t, d, "deploy").Totals.Successes; got != 1 {
					t.Errorf("%d updates", got)
				}
				if wantWarnings := ending == dataEnding; (len(warnings) == 1) != wantWarnings {
					t.Errorf("warnings: %q", warnings)
				}
			})
		}
	}
}

// A count of refusals is written in place, so what lies there must be ours.
func TestPlantedCounts(t *testing.T) {
	for _, kind := range []string{"symlink", "symlink inside", "dangling symlink", "hard link", "FIFO", "directory"} {
		t.Run(kind, func(t *testing.T) {
			d := newDir(t)
			trip(t, d, "deploy")
			unharmed := plant(t, kind, filepath.Join(d.Path, "deploy"+refusedEnding))
			defer unharmed()
			wantRefused(t, d, "deploy", 1)
			for range 2 {
				within(t, func() error { refuse(t, d, "deploy"); return nil })
			}
			wantRefused(t, d, "deploy", 3)
		})
	}
}

// within fails instead of hanging for ever.
func within(t *testing.T, f func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("it hangs")
		return nil
	}
}

func TestAPlantedDirectoryOfLeases(t *testing.T) {
	d := newDir(t)
	update(t, d, "deploy", increment)
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(d.Path, "deploy.probes")); err != nil {
		t.Fatal(err)
	}
	update(t, d, "deploy", addProbe("00000000000000aa"))
	if c := read(t, d, "deploy"); c.Probes[0].Leased {
		t.Error("a lease was taken outside")
	}
	update(t, d, "deploy", put(breaker.Circuit{}))
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("left outside: %v, %v", left, err)
	}
}

func TestALeftTemporaryFileIsReplaced(t *testing.T) {
	d := newDir(t)
	update(t, d, "deploy", increment)
	if err := os.WriteFile(filepath.Join(d.Path, "deploy.tmp"), []byte(documentStart+strings.Repeat("x", 1<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	update(t, d, "deploy", increment)
	wantFiles(t, d, "deploy.json", "deploy.lock")
	wantMode(t, filepath.Join(d.Path, "deploy.json"), 0o600)
}
