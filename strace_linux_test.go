package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// injection is one thing that is done to one system call of cb.
type injection struct {
	call string
	what string // in strace's words: error=EIO, signal=KILL, delay_enter=1000
	at   int    // at which of these calls; each thread counts its own
}

// fits tells with which errors a system call of the state path may fail.
func fits() map[string]string {
	return map[string]string{
		"openat":     "EIO EACCES EMFILE ENFILE ENOSPC EDQUOT EROFS EINTR ELOOP",
		"newfstatat": "EIO EACCES ENOMEM",
		"fstat":      "EIO ENOMEM",
		"read":       "EIO EINTR",
		"write":      "ENOSPC EDQUOT EIO EINTR EFBIG",
		"fdatasync":  "EIO ENOSPC EDQUOT EROFS EINTR",
		"fsync":      "EIO ENOSPC EDQUOT EROFS EINTR EINVAL",
		"close":      "EIO ENOSPC EDQUOT EINTR",
		"renameat":   "ENOSPC EDQUOT EIO EROFS EACCES EPERM EINTR",
		"flock":      "ENOLCK EINTR EIO EOPNOTSUPP",
		"unlinkat":   "EIO EROFS EACCES EPERM EBUSY",
		"mkdirat":    "ENOSPC EDQUOT EIO EROFS EACCES EMLINK",
		"linkat":     "ENOSPC EDQUOT EIO EROFS EACCES EPERM EMLINK",
		"fchmod":     "EIO EROFS EPERM",
		"fchmodat":   "EIO EROFS EPERM",
		"getdents64": "EIO ENOENT",
		"utimensat":  "EIO EROFS EACCES",
		"epoll_ctl":  "ENOSPC ENOMEM",
	}
}

// injections are those of one system call.
func injections(call string) []string {
	var all []string
	for name := range strings.FieldsSeq(fits()[call]) {
		all = append(all, "error="+name)
	}
	return append(all, "signal=KILL", "delay_enter=20000", "delay_exit=20000")
}

// everybodys are the system calls that the run-time and the command make too:
// of these only those on the state path are meant.
func everybodys() []string {
	return []string{"openat", "newfstatat", "fstat", "read", "write", "close", "epoll_ctl", "getdents64"}
}

// ending is how a traced cb ended.
type ending struct {
	code   int
	killed bool
	stdout string
	stderr string
	hits   int // how often something was injected
	log    string
}

// warned reports whether cb has said that something went wrong.
func (e ending) warned() bool { return strings.Contains(e.stderr, "cb: warning: ") }

func needsStrace(t *testing.T) {
	t.Helper()
	needs(t, "strace")
	if out, err := exec.Command("strace", "-qq", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		if required("strace") {
			t.Fatalf("strace does not work, but CB_TEST_REQUIRE names it: %v\n%s", err, out)
		}
		t.Skipf("strace does not work here: %v", err)
	}
}

// traced runs cb under strace with these options.
func (s stage) traced(options []string, args ...string) ending {
	s.Helper()
	log := s.path("log")
	c := s.cb(args...)
	traced := exec.Command("strace", slices.Concat(
		[]string{"-f", "--seccomp-bpf", "-qq", "-o", log}, options, []string{c.Path}, c.Args[1:])...)
	var stdout, stderr bytes.Buffer
	traced.Dir, traced.Env, traced.Stdout, traced.Stderr = c.Dir, c.Env, &stdout, &stderr
	err := traced.Run()
	text, unread := os.ReadFile(log)
	if traced.ProcessState == nil || unread != nil {
		s.Fatalf("strace: %v, %v", err, unread)
	}
	status := traced.ProcessState.Sys().(syscall.WaitStatus)
	return ending{
		code: status.ExitStatus(), killed: status.Signaled() && status.Signal() == syscall.SIGKILL,
		stdout: stdout.String(), stderr: stderr.String(), log: string(text),
		hits: bytes.Count(text, []byte("(INJECTED)")) + bytes.Count(text, []byte("(DELAYED)")),
	}
}

// inject runs cb and does one thing to it. paths are those that count.
func (s stage) inject(what injection, paths []string, args ...string) ending {
	s.Helper()
	options := []string{
		"-e", "trace=" + what.call,
		"-e", fmt.Sprintf("inject=%s:%s:when=%d", what.call, what.what, what.at),
	}
	if slices.Contains(everybodys(), what.call) {
		for _, path := range paths {
			options = append(options, "-P", filepath.Join(s.dir, path))
		}
	}
	end := s.traced(options, args...)
	if end.killed {
		end.hits = 1 // its last words
	}
	return end
}

// calls tells which system calls of the state path a run makes and how many of
// each, and the paths that they are about, relative to the stage's directory.
func (s stage) calls(args ...string) (count map[string]int, paths []string) {
	s.Helper()
	end := s.traced([]string{"-y", "-e", "trace=%file,%desc"}, args...)
	count = map[string]int{}
	place := regexp.MustCompile(`[<"]` + regexp.QuoteMeta(s.dir) + `/(state[^>"]*)[>"]`)
	name := regexp.MustCompile(`^\d+ +([a-z0-9_]+)\(`)
	for line := range strings.Lines(end.log) {
		at := place.FindAllStringSubmatch(line, -1)
		call := name.FindStringSubmatch(line)
		if at == nil || call == nil {
			continue
		}
		count[call[1]]++
		for _, one := range at {
			if !slices.Contains(paths, one[1]) {
				paths = append(paths, one[1])
			}
		}
	}
	return count, paths
}
