package process

import (
	"bytes"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// adopt makes this process the one that inherits the orphans of the tree, so
// that neither setsid nor a double fork takes a process out of it. What is
// below this process already (a shell with jobs may have exec'ed it) is kept
// in mind as not ours.
func (t *tree) adopt() {
	if procs, ok := t.walk(); ok {
		t.strangers = make(map[int]uint64, len(procs))
		for _, p := range procs {
			t.strangers[p.pid] = p.start
		}
	}
	var before int32
	_, _, errno := unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_GET_CHILD_SUBREAPER,
		uintptr(unsafe.Pointer(&before)), 0, 0, 0, 0)
	if errno != 0 || unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != nil {
		return
	}
	t.adopts = true
	// From here on what the command leaves behind is nobody's to wait for but
	// init's, once this process has ended.
	t.restore = func() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, uintptr(before), 0, 0, 0) }
}

// walk lists what is left of the tree, parents before children. It is not ok
// without a /proc that is about our own process numbers.
func (t *tree) walk() (procs []proc, ok bool) {
	self := os.Getpid()
	if link, err := os.Readlink("/proc/self"); err != nil || link != strconv.Itoa(self) {
		return nil, false
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, false
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, false
	}
	children := make(map[int][]proc)
	for _, name := range names {
		if p, ok := readProc(name); ok && !t.strange(p) {
			children[p.parent] = append(children[p.parent], p)
		}
	}
	procs = children[self]
	for i := 0; i < len(procs); i++ {
		procs = append(procs, children[procs[i].pid]...)
	}
	return procs, true
}

func (t *tree) strange(p proc) bool {
	start, known := t.strangers[p.pid]
	return known && start == p.start
}

// readProc reads one line like "7 (a (b) c) S 1 7 7 0 -1 …": the name may
// contain anything, so the fields count from its last parenthesis.
func readProc(name string) (proc, bool) {
	pid, err := strconv.Atoi(name)
	if err != nil {
		return proc{}, false
	}
	line, err := os.ReadFile("/proc/" + name + "/stat")
	if err != nil {
		return proc{}, false // it has ended meanwhile
	}
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(fields) < 20 {
		return proc{}, false
	}
	parent, err1 := strconv.Atoi(string(fields[1]))
	group, err2 := strconv.Atoi(string(fields[2]))
	start, err3 := strconv.ParseUint(string(fields[19]), 10, 64)
	p := proc{pid: pid, parent: parent, group: group, start: start}
	return p, err1 == nil && err2 == nil && err3 == nil
}
