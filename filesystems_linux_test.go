package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// volume is a file system of its own in a file.
type volume struct {
	t                   *testing.T
	kind, image, folder string
}

// kinds are the file systems, the sizes that they ask for at least, and how to
// mount a second one that is a copy of the first.
func kinds() map[string][2]string {
	return map[string][2]string{"ext4": {"24M", "loop"}, "xfs": {"300M", "loop,nouuid"}, "btrfs": {"120M", "loop"}}
}

// newVolume makes and mounts one. It skips the test where that is not allowed.
func newVolume(t *testing.T, kind string) volume {
	t.Helper()
	if testing.Short() {
		t.Skip("takes long")
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root, to mount")
	}
	needs(t, "mkfs."+kind)
	v := volume{t, kind, filepath.Join(t.TempDir(), "image"), t.TempDir()}
	v.run("truncate", "-s", kinds()[kind][0], v.image)
	v.run("mkfs."+kind, "-q", v.image)
	if out, err := exec.Command("mount", "-o", "loop", v.image, v.folder).CombinedOutput(); err != nil {
		t.Skipf("mount: %v\n%s", err, out)
	}
	t.Cleanup(v.unmount)
	return v
}

func (v volume) run(name string, args ...string) {
	v.t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		v.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

func (v volume) unmount() { _ = unix.Unmount(v.folder, unix.MNT_DETACH) } // it may be unmounted already

func (v volume) fleet() fleet { return fleet{v.t, v.t.TempDir(), filepath.Join(v.folder, "store")} }

// eachFileSystem tests on all that the machine knows, in the short version on
// the quickest.
func eachFileSystem(t *testing.T, test func(t *testing.T, v volume)) {
	for kind := range kinds() {
		t.Run(kind, func(t *testing.T) {
			if kind != "ext4" && size(0, 1, 1) == 0 {
				t.Skip("takes long; CB_TEST_LONG=1 includes it")
			}
			test(t, newVolume(t, kind))
		})
	}
}

// TestPowerCut records what is asked of the disk while runs write to it, and
// looks at what a power cut leaves: all up to the last sync, and of what came
// after it nothing, some or all. Each trip that was acknowledged is there, no
// circuit is damaged, and nothing is left for good.
func TestPowerCut(t *testing.T) {
	eachFileSystem(t, func(t *testing.T, v volume) {
		v.unmount()
		older := v.image + "-older"
		v.run("cp", "--sparse=always", v.image, older)
		d := newDisk(t, v.image, v.image+"-disk")
		v.run("mount", "-o", "loop", d.path, v.folder)
		f := v.fleet()
		acknowledged := []int{d.position()} // where each round was
		for n := 1; n <= size(4, 6, 40); n++ {
			_ = f.cb("run", "-q", "--name", "busy", "--threshold", "1", "--timeout", "1ms", "false").Run() // it fails
			trip := fmt.Sprint("trip", n)
			if err := f.cb("trip", trip, "--for", "1h").Run(); err != nil {
				t.Errorf("trip: %v", err)
			}
			acknowledged = append(acknowledged, d.position())
			_ = f.cb("run", "-q", "--name", trip, "false").Run() // it is refused
			if err := f.cb("run", "-q", "--name", "busy", "--threshold", "1", "--timeout", "1ms", "true").Run(); err != nil {
				t.Errorf("the probe: %v", err)
			}
		}
		unix.Sync()
		if err := unix.Unmount(v.folder, 0); err != nil {
			t.Fatal(err)
		}
		v.cuts(d, older, acknowledged)
	})
}

// cuts tries moments of a power cut.
func (v volume) cuts(d *disk, older string, acknowledged []int) {
	v.t.Helper()
	image, err := os.OpenFile(older, os.O_RDWR, 0)
	if err != nil {
		v.t.Fatal(err)
	}
	defer image.Close()
	r := &replay{log: d.log[:d.position()], image: image}
	points := make([]int, size(10, 16, 400))
	for i := range points {
		points[i] = acknowledged[0] + rand.N(len(r.log)-acknowledged[0]+1)
	}
	slices.Sort(points)
	for _, point := range points {
		if err := r.until(point); err != nil {
			v.t.Fatal(err)
		}
		v.run("cp", "--sparse=always", older, v.image+"-cut")
		if err := r.cut(v.image+"-cut", point); err != nil {
			v.t.Fatal(err)
		}
		rounds, exact := slices.BinarySearch(acknowledged, point)
		if !exact {
			rounds--
		}
		v.survives(v.image+"-cut", rounds)
	}
	v.t.Logf("%d power cuts in %d writes and syncs", len(points), len(r.log))
}

// survives mounts a copy and wants the first n rounds in it.
func (v volume) survives(image string, n int) {
	v.t.Helper()
	v.run("mount", "-o", kinds()[v.kind][1], image, v.folder)
	defer v.unmount()
	f := v.fleet()
	out, err := f.cb("status").CombinedOutput()
	if err != nil || strings.Contains(string(out), "damaged") {
		v.t.Errorf("cb status: %v\n%s", err, out)
	}
	for i := range n {
		if state := f.status(fmt.Sprint("trip", i+1)).State; state != "open" {
			v.t.Errorf("trip %d of %d that were acknowledged left the circuit %s", i+1, n, state)
		}
	}
	if n > 0 && f.status("busy").Totals.Trips < n {
		v.t.Errorf("%d trips by runs are left of %d", f.status("busy").Totals.Trips, n)
	}
	f.eventually("the next run works", func() bool { // the period of a probe that was lost begins anew
		out, err := f.cb("run", "-qq", "--name", "busy", "--threshold", "1", "--timeout", "1ms", "true").CombinedOutput()
		if strings.Contains(string(out), "warning") {
			v.t.Errorf("the next run: %s", out)
		}
		return err == nil
	})
	_ = f.cb("reset", "--all").Run() // there may be none
	if out, err := f.cb("prune", "--older-than", "1ms").CombinedOutput(); err != nil {
		v.t.Errorf("cb prune: %v\n%s", err, out)
	}
	if left, err := os.ReadDir(f.store); err != nil && !os.IsNotExist(err) || len(left) > 0 {
		v.t.Errorf("cb prune leaves %v, %v", left, err)
	}
}

// TestFullDisk fills the file system to the last byte. The command's code
// stands, the circuit is as it was, and once there is room all goes on.
func TestFullDisk(t *testing.T) {
	eachFileSystem(t, func(t *testing.T, v volume) {
		f := v.fleet()
		f.fails("", "api")
		filler, err := os.Create(filepath.Join(v.folder, "filler"))
		if err != nil {
			t.Fatal(err)
		}
		defer filler.Close()
		for _, step := range []int{1 << 20, 1 << 12, 1} {
			for err = nil; err == nil; {
				_, err = filler.Write(make([]byte, step))
			}
		}
		if err := filler.Sync(); err != nil {
			t.Log(err)
		}
		f.fails("cannot save api (no space left on device)", "api")
		f.fails("no space left on device", "another")
		if n := f.status("api").Totals.Failures; n != 1 {
			t.Errorf("%d failures are counted, want 1", n)
		}
		if err := os.Remove(filler.Name()); err != nil {
			t.Fatal(err)
		}
		filler.Close()
		f.eventually("there is room again", func() bool { return f.cb("trip", "room").Run() == nil })
		f.fails("", "api")
		_ = f.cb("prune", "--older-than", "1h").Run() // the lock of the other one
		f.nothingLeft("api", "room")
	})
}

// fails runs a failing command, whose code must come back, with that warning.
func (f fleet) fails(warning, name string) {
	f.Helper()
	c := f.cb("run", "--name", name, "-c", "exit 3")
	out, _ := c.CombinedOutput() // the code is looked at
	if c.ProcessState.ExitCode() != 3 || !strings.Contains(string(out), warning) || (len(out) > 0) != (warning != "") {
		f.Errorf("it ended with %d, want 3; it said:\n%swant: %s", c.ProcessState.ExitCode(), out, warning)
	}
}

// nothingLeft wants the documents and locks of these circuits and nothing else.
func (f fleet) nothingLeft(names ...string) {
	f.Helper()
	entries, err := os.ReadDir(f.store)
	if err != nil || len(entries) != 2*len(names) {
		f.Errorf("the store has %v, %v", entries, err)
	}
}

// TestReadOnlyInBetween makes the file system read-only while the command runs,
// as the kernel does after an error of the disk.
func TestReadOnlyInBetween(t *testing.T) {
	eachFileSystem(t, func(t *testing.T, v volume) {
		f := v.fleet()
		f.fails("", "api")
		if err := unix.Mkfifo(f.path("go"), 0o600); err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		c := f.cb("run", "--name", "api", "-c", "read line <go; exit 4")
		c.Stderr = &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		release, err := os.OpenFile(f.path("go"), os.O_WRONLY, 0) // once the command reads
		if err != nil {
			t.Fatal(err)
		}
		v.run("mount", "-o", "remount,ro", v.folder)
		fmt.Fprintln(release, "go")
		release.Close()
		_ = c.Wait() // the code is looked at
		want := "cb: warning: cannot save api (read-only file system); the command's result stands\n"
		if c.ProcessState.ExitCode() != 4 || said.String() != want {
			t.Errorf("it ended with %d: %s", c.ProcessState.ExitCode(), said.String())
		}
		f.fails("read-only file system", "api")
		if n := f.status("api").Totals.Failures; n != 1 {
			t.Errorf("%d failures are counted, want 1", n)
		}
		v.run("mount", "-o", "remount,rw", v.folder)
		f.fails("", "api")
		f.nothingLeft("api")
	})
}
