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
	more string // at which later ones too: "+" all, "..N+STEP" these
}

func (i injection) String() string {
	return fmt.Sprintf("%s:%s:when=%d%s", i.call, i.what, i.at, i.more)
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
	log    string
}

// warned reports whether cb has said that something went wrong.
func (e ending) warned() bool { return strings.Contains(e.stderr, "cb: warning: ") }

// took reports whether each of these took place. A thread may make fewer of the
// calls than were counted, and then none is disturbed.
func (e ending) took(all []injection) bool {
	for _, one := range all {
		disturbed := regexp.MustCompile(`(?m)^\d+ +(<\.\.\. )?` + one.call + `\b.*\((INJECTED|DELAYED)\)$`)
		times := len(disturbed.FindAllString(e.log, 2))
		dead := e.killed && strings.HasPrefix(one.what, "signal")
		if times == 0 && !dead || times < 2 && one.more != "" && len(all) == 1 {
			return false
		}
	}
	return true
}

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
	}
}

// inject runs cb and does these things to it, each to another system call.
// paths are those that count.
func (s stage) inject(all []injection, paths []string, args ...string) ending {
	s.Helper()
	options := s.disturbing(all, paths)
	var calls []string
	for _, one := range all {
		calls = append(calls, one.call)
	}
	return s.traced(append(options, "-e", "trace="+strings.Join(calls, ",")), args...)
}

// disturbing are the options that do these things.
func (s stage) disturbing(all []injection, paths []string) []string {
	var options []string
	everybodys := slices.ContainsFunc(all, func(one injection) bool { return slices.Contains(everybodys(), one.call) })
	for _, path := range paths {
		if everybodys {
			options = append(options, "-P", filepath.Join(s.dir, path))
		}
	}
	for _, one := range all {
		options = append(options, "-e", "inject="+one.String())
	}
	return options
}

// call is one system call of the state path.
type call struct {
	name  string
	nth   int  // of those in its thread
	after bool // something was injected before
}

// calls tells which system calls of the state path a run makes, in their
// order, and the paths that they are about, relative to the stage's directory.
func (s stage) calls(all []injection, known []string, args ...string) (made []call, paths []string) {
	s.Helper()
	end := s.traced(append(s.disturbing(all, known), "-y", "-e", "trace=%file,%desc"), args...)
	place := regexp.MustCompile(`[<"]` + regexp.QuoteMeta(s.dir) + `/(state[^>"]*)[>"]`)
	name := regexp.MustCompile(`^(\d+) +([a-z0-9_]+)\(`)
	nth, after := map[string]int{}, false
	for line := range strings.Lines(end.log) {
		at := place.FindAllStringSubmatch(line, -1)
		found := name.FindStringSubmatch(line)
		if at == nil || found == nil {
			continue
		}
		nth[found[0]]++
		made = append(made, call{found[2], nth[found[0]], after})
		after = after || strings.Contains(line, "(INJECTED)")
		for _, one := range at {
			if !slices.Contains(paths, one[1]) {
				paths = append(paths, one[1])
			}
		}
	}
	return made, paths
}
