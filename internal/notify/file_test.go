package notify

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func content(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

// have compares a file's content.
func have(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q (%v), want %q", path, got, err, want)
	}
}

// only demands that a directory holds nothing but these names.
func only(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s holds %v, want %v", dir, got, want)
	}
}

func TestWriteFileReplaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"one", "two and longer", ""} {
		if err := WriteFile(path, 0, content(text)); err != nil {
			t.Fatal(err)
		}
		have(t, path, text)
	}
	only(t, dir, "file")
}

func TestWriteFileLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	broken := errors.New("broken")
	fails := func(w io.Writer) error { return errors.Join(content("half")(w), broken) }
	if err := WriteFile(path, 0, fails); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	only(t, dir)
	if err := WriteFile(path, 0, content("old")); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, 0, fails); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	have(t, path, "old")
	only(t, dir, "file")
	if err := WriteFile(filepath.Join(dir, "no", "file"), 0, content("x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if err := WriteFile(dir, 0, content("x")); err == nil {
		t.Error("a directory was replaced")
	}
	only(t, dir, "file")
}

// TestWriteFileIsWhole lets readers look while many write.
func TestWriteFileIsWhole(t *testing.T) {
	const writers, rounds, size = 8, 50, 100_000
	path := filepath.Join(t.TempDir(), "file")
	text := func(n int) []byte { return bytes.Repeat([]byte{byte('a' + n)}, size) }
	if err := WriteFile(path, 0, content(string(text(0)))); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for n := range writers {
		group.Go(func() {
			for range rounds {
				if err := WriteFile(path, 0, content(string(text(n)))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	for over := false; !over; {
		select {
		case <-done:
			over = true
		default:
		}
		got, err := os.ReadFile(path)
		if err != nil || len(got) != size || !bytes.Equal(got, text(int(got[0]-'a'))) {
			t.Fatalf("read %d bytes (%v)", len(got), err)
		}
	}
	only(t, filepath.Dir(path), "file")
}

// TestWriteFileSweepsWhatACrashLeft but not what somebody else is writing.
func TestWriteFileSweepsWhatACrashLeft(t *testing.T) {
	dir := t.TempDir()
	for n, age := range []time.Duration{2 * time.Hour, 0, 2 * time.Hour} {
		at := time.Now().Add(-age)
		path := tempBeside(dir, n)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := WriteFile(filepath.Join(dir, "result"), 0, content("text")); err != nil {
		t.Fatal(err)
	}
	only(t, dir, ".cb-1.tmp", "result")
}
