//go:build unix

package notify

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestWriteFileMode(t *testing.T) {
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	dir := t.TempDir()
	mode := func(name string) fs.FileMode {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	write := func(name string, m fs.FileMode) {
		t.Helper()
		if err := WriteFile(filepath.Join(dir, name), m, content(name)); err != nil {
			t.Fatal(err)
		}
	}
	write("masked", 0)
	write("exact", 0o644)
	if mode("masked") != 0o640 || mode("exact") != 0o644 {
		t.Errorf("new files have modes %o and %o", mode("masked"), mode("exact"))
	}
	if err := os.Chmod(filepath.Join(dir, "exact"), 0o400); err != nil {
		t.Fatal(err)
	}
	write("exact", 0o644)
	if mode("exact") != 0o400 {
		t.Errorf("the mode that was there became %o", mode("exact"))
	}
}

func TestWriteFileFollowsSymlinks(t *testing.T) {
	dir := t.TempDir()
	for _, sub := range []string{"a", "b", "b/c"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"a/deep": "../b/c", "a/up": "deep/../target", // deep/.. is b
		"b/target": "c/made", "loop": "loop", "away": filepath.Join(dir, "none/file"),
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"made", "replaced"} {
		if err := WriteFile(filepath.Join(dir, "a/up"), 0, content(text)); err != nil {
			t.Fatal(err)
		}
		have(t, filepath.Join(dir, "b/c/made"), text)
	}
	only(t, filepath.Join(dir, "a"), "deep", "up")
	only(t, filepath.Join(dir, "b"), "c", "target")
	only(t, filepath.Join(dir, "b/c"), "made")
	if err := WriteFile(filepath.Join(dir, "loop"), 0, content("x")); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a loop gives %v", err)
	}
	if err := WriteFile(filepath.Join(dir, "away"), 0, content("x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a link into nothing gives %v", err)
	}
}

func TestWriteFileIntoFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan string)
	go func() {
		text, err := os.ReadFile(path)
		got <- fmt.Sprint(string(text), err)
	}()
	if err := WriteFile(path, 0, content("text")); err != nil {
		t.Fatal(err)
	}
	if text := <-got; text != "text<nil>" {
		t.Errorf("the reader got %q", text)
	}
	// Nobody reads: the end of a run does not wait for ever.
	if err := WriteFile(path, 0, content("text")); !errors.Is(err, errUnread) {
		t.Errorf("error %v", err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		t.Errorf("the FIFO is gone: %v", err)
	}
	only(t, filepath.Dir(path), "fifo")
}

func TestWriteFileIntoDescriptor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	inherited, err := syscall.Dup(int(file.Fd())) // not close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	for _, text := range []string{"before ", "result "} {
		if text == "result " {
			err = WriteFile(fmt.Sprintf("/dev/fd/%d", inherited), 0, content(text))
		} else {
			_, err = io.WriteString(file, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.WriteString(file, "after"); err != nil {
		t.Fatal(err)
	}
	have(t, path, "before result after")
	// A descriptor of our own has that number by accident.
	err = WriteFile(fmt.Sprintf("/dev/fd/%d", file.Fd()), 0, content("x"))
	if !errors.Is(err, syscall.EBADF) {
		t.Errorf("our own descriptor gives %v", err)
	}
	have(t, path, "before result after")
}
