//go:build amd64 || arm64

package signals

import (
	"runtime"
	"slices"
	"syscall"
	"testing"

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

// The runtime has a thread that lets in what was blocked from the start.
func TestBlockedSignalsAreLeftToTheRuntime(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var set, before unix.Sigset_t
	set.Val[0] = 1 << (syscall.SIGUSR1 - 1)
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &set, &before); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil); err != nil {
			t.Fatal(err)
		}
	}()
	var l log
	if _, ok := listenByPipe([]syscall.Signal{syscall.SIGUSR1}, l.note); ok {
		t.Error("it would never be handled")
	}
	listener := Listen([]syscall.Signal{syscall.SIGUSR1}, l.note)
	defer listener.Close()
	send(t, syscall.SIGUSR1)
	l.await(t, syscall.SIGUSR1)
}
