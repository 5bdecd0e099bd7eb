package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"cb/internal/breaker"
)

// faultJob makes the system call args[1] fail with the error number args[2]
// for this process, then changes the circuit args[0]: with "open" so that it
// trips, else by as many goroutines as args[3] says. It prints warnings and
// the causes of errors.
func faultJob(s contractStore, args []string) error {
	call, _ := strconv.Atoi(args[1])
	number, _ := strconv.Atoi(args[2])
	if err := failCall(uint32(call), uint32(number)); err != nil {
		fmt.Println("skip:", err)
		return nil
	}
	s.(*Dir).Warn = func(message string) { fmt.Println("warning:", message) }
	if args[3] == "open" {
		report(s.Update(context.Background(), args[0], func(c breaker.Circuit, now time.Time) (breaker.Circuit, error) {
			return c.Trip(breaker.Order{At: now, For: time.Hour, Seed: 1}), nil
		}))
		return nil
	}
	times, _ := strconv.Atoi(args[3])
	var group sync.WaitGroup
	for range times {
		group.Go(func() { report(s.Update(context.Background(), args[0], increment)) })
	}
	group.Wait()
	return nil
}

func report(err error) {
	if err != nil {
		fmt.Println(Cause(err))
	}
}

// failCall installs a filter of the kernel on all threads of this process.
func failCall(call, number uint32) error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the call's number
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: call, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | number},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, failed := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&program)))
	if failed != 0 {
		return failed
	}
	return nil
}

// said returns all that a child prints.
func said(t *testing.T, c *child) string {
	t.Helper()
	var all []string
	for line := c.line(); line != ""; line = c.line() {
		if strings.HasPrefix(line, "skip:") {
			t.Skip(line)
		}
		all = append(all, line)
	}
	c.finish()
	return strings.Join(all, "\n")
}

func TestAFileSystemWithoutLocks(t *testing.T) {
	for _, number := range []unix.Errno{unix.ENOLCK, unix.EOPNOTSUPP} {
		d := newDir(t)
		update(t, d, "deploy", increment)
		got := said(t, start(t, "fault", d.Path, "deploy", strconv.Itoa(unix.SYS_FLOCK), strconv.Itoa(int(number)), "20"))
		if !strings.HasPrefix(got, "warning: locks are not supported") || strings.Contains(got, "\n") {
			t.Errorf("%v: it says %q, want one warning", number, got)
		}
		if got := read(t, d, "deploy").Totals.Successes; got < 2 || got > 21 {
			t.Errorf("%v: %d updates", number, got)
		}
		wantFiles(t, d, "deploy.json", "deploy.lock")
	}
}

func TestWritesThatFailLeaveTheCircuit(t *testing.T) {
	for _, test := range []struct {
		name   string
		call   int
		number unix.Errno
		change string
		says   string // how it begins
		kept   bool
	}{
		{"the file's sync", unix.SYS_FDATASYNC, unix.EIO, "1", "input/output error", true},
		{"the rename", unix.SYS_RENAMEAT, unix.EDQUOT, "1", "disk quota exceeded", true},
		{"the lock", unix.SYS_FLOCK, unix.EIO, "1", "input/output error", true},
		{"the directory's sync after an outcome", unix.SYS_FSYNC, unix.EIO, "1", "", false},
		// Written is written: an error would have it counted again.
		{"the directory's sync after a transition", unix.SYS_FSYNC, unix.EIO, "open", "warning: cannot sync ", false},
		{"the directory's sync where there is none", unix.SYS_FSYNC, unix.EINVAL, "open", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDir(t)
			update(t, d, "deploy", increment)
			path := filepath.Join(d.Path, "deploy.json")
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := said(t, start(t, "fault", d.Path, "deploy", strconv.Itoa(test.call), strconv.Itoa(int(test.number)), test.change))
			if !strings.HasPrefix(got, test.says) || (got == "") != (test.says == "") || strings.Contains(got, "\n") {
				t.Errorf("it says %q", got)
			}
			after, err := os.ReadFile(path)
			if err != nil || (string(after) == string(before)) != test.kept {
				t.Errorf("the document became %s, %v", after, err)
			}
			wantFiles(t, d, "deploy.json", "deploy.lock")
		})
	}
}

func TestAFullFileSystem(t *testing.T) {
	needRoot(t)
	d := newDir(t)
	if err := os.MkdirAll(d.Path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", d.Path, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("mount: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(d.Path, unix.MNT_DETACH) })
	update(t, d, "deploy", increment)
	filler, err := os.Create(filepath.Join(d.Path, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = filler.Write(make([]byte, 4096))
	}
	filler.Close()
	err = d.Update(context.Background(), "deploy", addProbe("00000000000000aa"))
	if !errors.Is(err, unix.ENOSPC) || Cause(err) != "no space left on device" {
		t.Errorf("Update: %v", err)
	}
	wantFiles(t, d, "deploy.json", "deploy.lock", "filler")
	if c := read(t, d, "deploy"); c.Totals.Successes != 1 || c.State != breaker.Closed {
		t.Errorf("the circuit became %+v", c)
	}
	if err := os.Remove(filler.Name()); err != nil {
		t.Fatal(err)
	}
	update(t, d, "deploy", increment)
}

// A refusal that finds no room must not be lost without a word.
func TestARefusalWithoutRoomIsTold(t *testing.T) {
	needRoot(t)
	d := newDir(t)
	if err := os.MkdirAll(d.Path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", d.Path, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("mount: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(d.Path, unix.MNT_DETACH) })
	trip(t, d, "deploy")
	for err := error(nil); err == nil; {
		err = os.WriteFile(filepath.Join(d.Path, uniqueName("filler")), make([]byte, 4096), 0o600)
	}
	err := d.Update(context.Background(), "deploy", func(c breaker.Circuit, now time.Time) (breaker.Circuit, error) {
		after, _, _ := c.Admit(breaker.Default(), now, breaker.Caller{}, 1)
		return after, nil
	})
	if !errors.Is(err, unix.ENOSPC) {
		t.Errorf("Update: %v", err)
	}
	wantRefused(t, d, "deploy", 1)
}

func TestTimeNamespacesShareOneBootClock(t *testing.T) {
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		t.Skip(err)
	}
	plain := start(t, "clock", t.TempDir())
	mine := strings.Fields(plain.line())
	plain.finish()
	inside := newChild(t, unshare, "clock", "--time")
	inside.Args = append(inside.Args, "--fork", "--boottime", "86400", os.Args[0], t.TempDir())
	inside.Stderr = nil
	inside.start()
	theirs := strings.Fields(inside.line())
	if len(theirs) != 2 {
		t.Skip("no time namespaces")
	}
	inside.finish()
	first, _ := strconv.ParseInt(mine[1], 10, 64)
	second, _ := strconv.ParseInt(theirs[1], 10, 64)
	if d := time.Duration(second - first); mine[0] != theirs[0] || d < 0 || d > time.Minute {
		t.Errorf("inside, the boot clock differs by %v: %q and %q", d, mine, theirs)
	}
}

func TestBootOffset(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"monotonic           0         0\nboottime            0         0\n": 0,
		"monotonic           7         0\nboottime        86400         5\n": 24*time.Hour + 5,
		"monotonic           0         0\nboottime           -2 500000000\n": -1500 * time.Millisecond,
		"boottime x 0\n": 0, "boottime 1\n": 0, "": 0,
	} {
		if got := bootOffset(text); got != want {
			t.Errorf("bootOffset(%q) = %v, want %v", text, got, want)
		}
	}
}
