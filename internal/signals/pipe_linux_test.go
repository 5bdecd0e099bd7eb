//go:build amd64 || arm64

package signals

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A signal of this very thread has been handled when the call that sends it
// returns.
func TestSettleReadsThePipe(t *testing.T) {
	var l log
	listener, ok := listenByPipe([]syscall.Signal{syscall.SIGUSR2, marker}, l.note)
	if !ok {
		t.Fatal("no pipe")
	}
	defer listener.Close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for n := 1; n <= 50; n++ {
		if err := unix.Tgkill(unix.Getpid(), unix.Gettid(), syscall.SIGUSR2); err != nil {
			t.Fatal(err)
		}
		listener.Settle()
		if got := len(l.read()); got != n {
			t.Fatalf("told of %d signals, want %d", got, n)
		}
	}
}

// Of two that wait, Settle tells of both: those of the process, too, are handled
// on this thread when it is sent one.
func TestSettleHandlesWhatIsPending(t *testing.T) {
	var l log
	listener, ok := listenByPipe([]syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2, marker}, l.note)
	if !ok {
		t.Fatal("no pipe")
	}
	defer listener.Close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var set, before unix.Sigset_t
	set.Val[0] = 1<<(syscall.SIGUSR1-1) | 1<<(syscall.SIGUSR2-1)
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &set, &before); err != nil {
		t.Fatal(err)
	}
	for _, sig := range []syscall.Signal{syscall.SIGUSR2, syscall.SIGUSR1} {
		if err := unix.Tgkill(unix.Getpid(), unix.Gettid(), sig); err != nil {
			t.Fatal(err)
		}
	}
	listener.Settle()
	if got := l.read(); len(got) != 0 {
		t.Errorf("told of %v, which are blocked", got)
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil); err != nil {
		t.Fatal(err)
	}
	listener.Settle()
	got := l.read()
	slices.Sort(got)
	if !slices.Equal(got, []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2}) {
		t.Errorf("told of %v", got)
	}
}

// alone reports whether this is a process that runs nothing but this test, or
// runs one.
func alone(t *testing.T) bool {
	t.Helper()
	if os.Getenv("SIGNALS_TEST") == t.Name() {
		return true
	}
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), "SIGNALS_TEST="+t.Name())
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// startBlocked starts this process once more, with a signal blocked.
func startBlocked(t *testing.T, sig syscall.Signal) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var set, before unix.Sigset_t
	set.Val[0] = 1 << (sig - 1)
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &set, &before); err != nil {
		t.Fatal(err)
	}
	if before != set {
		t.Fatal(syscall.Exec("/proc/self/exe", os.Args, os.Environ()))
	}
}

// The runtime has a thread that lets in what was blocked from the start.
func TestBlockedSignalsAreLeftToTheRuntime(t *testing.T) {
	if !alone(t) {
		return
	}
	startBlocked(t, syscall.SIGUSR1)
	var l log
	listener := Listen([]syscall.Signal{syscall.SIGUSR1}, l.note)
	defer listener.Close()
	if _, ok := listener.(*piped); ok {
		t.Error("through a pipe")
	}
	send(t, syscall.SIGUSR1)
	l.await(t, syscall.SIGUSR1)
}

// Where there was no room for a pipe, one that came later would leave those deaf
// who listen by the runtime.
func TestAllListenInOneWay(t *testing.T) {
	if !alone(t) {
		return
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := syscall.Rlimit{Cur: 0, Max: limit.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	var one, two log
	first := Listen([]syscall.Signal{syscall.SIGUSR1}, one.note)
	defer first.Close()
	if _, ok := first.(*piped); ok {
		t.Fatal("there was room for a pipe")
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	second := Listen([]syscall.Signal{syscall.SIGUSR1}, two.note)
	defer second.Close()
	send(t, syscall.SIGUSR1)
	two.await(t, syscall.SIGUSR1)
	one.await(t, syscall.SIGUSR1)
}

// The main thread is slow to handle a stop signal, and another one handles the
// end of the child that had it too.
func TestEndOfAChildIsToldOfLast(t *testing.T) {
	if !alone(t) {
		return
	}
	var set unix.Sigset_t
	set.Val[0] = 1<<(syscall.SIGINT-1) | 1<<(syscall.SIGCHLD-1)
	var l log
	listener, ok := listenByPipe([]syscall.Signal{syscall.SIGINT, marker}, func(sig syscall.Signal) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.seen = append(l.seen, sig)
	})
	if !ok {
		t.Fatal("no pipe")
	}
	defer listener.Close()
	pid := unix.Getpid()
	onMainThread(func() {
		if err := unix.PthreadSigmask(unix.SIG_BLOCK, &set, nil); err != nil {
			t.Error(err)
		}
		if err := unix.Tgkill(pid, pid, syscall.SIGINT); err != nil {
			t.Error(err)
		}
	})
	// The main thread blocks it, so that it is another that handles it.
	send(t, syscall.SIGCHLD)
	for deadline := time.Now().Add(20 * time.Second); !pending(t, pid, syscall.SIGCHLD); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the end was not sent on to the main thread")
		}
	}
	if got := l.read(); len(got) != 0 {
		t.Errorf("told of %v too early", got)
	}
	onMainThread(func() {
		if err := unix.PthreadSigmask(unix.SIG_UNBLOCK, &set, nil); err != nil {
			t.Error(err)
		}
	})
	l.await(t, syscall.SIGINT, syscall.SIGCHLD)
}

// onMainThread calls do on the main thread, which a process with a test alone
// keeps for it.
func onMainThread(do func()) {
	done := make(chan struct{})
	mainThread <- func() {
		do()
		close(done)
	}
	<-done
}

// pending reports whether a signal waits for a thread of this process.
func pending(t *testing.T, thread int, sig syscall.Signal) bool {
	t.Helper()
	status, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(thread) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "\nSigPnd:\t")
	set, _, _ := strings.Cut(rest, "\n")
	bits, err := strconv.ParseUint(set, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return bits>>(sig-1)&1 != 0
}
