//go:build unix

package signals

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// mainThread takes what is to be done on the main thread, in a process that runs
// one test alone.
var mainThread = make(chan func())

func init() {
	if os.Getenv("SIGNALS_TEST") != "" {
		runtime.LockOSThread()
	}
}

func TestMain(m *testing.M) {
	if os.Getenv("SIGNALS_TEST") != "" {
		go func() { os.Exit(m.Run()) }()
		for do := range mainThread {
			do()
		}
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("os/signal.signal_recv"), goleak.IgnoreTopFunction("os/signal.loop"))
}

// both runs a test for each kind of Listener that this system has.
func both(t *testing.T, test func(t *testing.T, listen func(note func(syscall.Signal), list ...syscall.Signal) Listener)) {
	t.Run("runtime", func(t *testing.T) {
		test(t, func(note func(syscall.Signal), list ...syscall.Signal) Listener {
			return listenByRuntime(append(list, always()...), note)
		})
	})
	t.Run("pipe", func(t *testing.T) {
		test(t, func(note func(syscall.Signal), list ...syscall.Signal) Listener {
			l, ok := listenByPipe(append(list, always()...), note)
			if !ok {
				t.Skip("not on this system")
			}
			return l
		})
	})
}

// log keeps what it is told, but for the marker.
type log struct {
	mu   sync.Mutex
	seen []syscall.Signal
}

func (l *log) note(sig syscall.Signal) {
	if isMarker(sig) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = append(l.seen, sig)
}

func (l *log) read() []syscall.Signal {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.seen)
}

func (l *log) await(t *testing.T, want ...syscall.Signal) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; runtime.Gosched() {
		if got := l.read(); slices.Equal(got, want) {
			return
		} else if time.Now().After(deadline) {
			t.Fatalf("told of %v, want %v", got, want)
		}
	}
}

func send(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(syscall.Getpid(), sig); err != nil {
		t.Fatal(err)
	}
}

func TestInTheirOrder(t *testing.T) {
	both(t, func(t *testing.T, listen func(func(syscall.Signal), ...syscall.Signal) Listener) {
		var l log
		defer listen(l.note, syscall.SIGUSR1, syscall.SIGTERM).Close()
		send(t, syscall.SIGTERM)
		l.await(t, syscall.SIGTERM)
		send(t, syscall.SIGUSR1)
		l.await(t, syscall.SIGTERM, syscall.SIGUSR1)
		send(t, syscall.SIGTERM)
		l.await(t, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGTERM)
	})
}

// What one Listener has been told of was handled, so another has been told of
// it after Settle.
func TestSettle(t *testing.T) {
	both(t, func(t *testing.T, listen func(func(syscall.Signal), ...syscall.Signal) Listener) {
		for range 50 {
			var witness, l log
			first := listen(witness.note, syscall.SIGUSR2)
			second := listen(l.note, syscall.SIGUSR2)
			send(t, syscall.SIGUSR2)
			witness.await(t, syscall.SIGUSR2)
			second.Settle()
			if got := l.read(); !slices.Equal(got, []syscall.Signal{syscall.SIGUSR2}) {
				t.Fatalf("told of %v", got)
			}
			first.Close()
			second.Close()
		}
	})
}

func TestEachListenerIsToldWhatItWants(t *testing.T) {
	both(t, func(t *testing.T, listen func(func(syscall.Signal), ...syscall.Signal) Listener) {
		var one, two log
		first := listen(one.note, syscall.SIGUSR1, syscall.SIGUSR2)
		second := listen(two.note, syscall.SIGUSR1)
		defer second.Close()
		send(t, syscall.SIGUSR1)
		one.await(t, syscall.SIGUSR1)
		two.await(t, syscall.SIGUSR1)
		first.Close()
		first.Close()
		send(t, syscall.SIGUSR2) // the runtime takes it, and nothing happens
		send(t, syscall.SIGUSR1)
		two.await(t, syscall.SIGUSR1, syscall.SIGUSR1)
		if got := one.read(); len(got) != 1 {
			t.Errorf("told of %v after its end", got)
		}
	})
}

// A signal may come at any moment, on any thread, on top of whatever runs there.
func TestUnderLoad(t *testing.T) {
	both(t, func(t *testing.T, listen func(func(syscall.Signal), ...syscall.Signal) Listener) {
		var l log
		defer listen(l.note, syscall.SIGALRM).Close()
		done := make(chan struct{})
		var busy sync.WaitGroup
		for range 8 {
			busy.Go(func() {
				deep := func(int) int { return 0 }
				deep = func(n int) int {
					if n == 0 {
						return len(make([]byte, 1<<12))
					}
					return deep(n-1) + 1
				}
				for {
					select {
					case <-done:
						return
					default:
						deep(1000)
						os.Getppid()
						runtime.Gosched()
					}
				}
			})
		}
		const signals = 200
		for n := range signals {
			send(t, syscall.SIGALRM)
			for len(l.read()) <= n {
				runtime.Gosched()
			}
		}
		close(done)
		busy.Wait()
		if got := len(l.read()); got != signals {
			t.Errorf("told of %d signals, want %d", got, signals)
		}
	})
}

// A child gets the defaults, and neither end of a pipe.
func TestChildrenSeeNothing(t *testing.T) {
	both(t, func(t *testing.T, listen func(func(syscall.Signal), ...syscall.Signal) Listener) {
		look := func() string {
			out, err := exec.Command("/bin/sh", "-c", "trap; for fd in 3 4 5 6 7 8 9; do if { true >&$fd; } 2>/dev/null; then echo open $fd; fi; done; kill -USR1 $$").Output()
			if err == nil {
				t.Error("USR1 did not end it")
			}
			return string(out)
		}
		before := look()
		var l log
		defer listen(l.note, syscall.SIGUSR1, syscall.SIGTERM).Close()
		if got := look(); got != before {
			t.Errorf("a child sees %q, before %q", got, before)
		}
		if got := l.read(); len(got) != 0 {
			t.Errorf("told of %v, which the child was sent", got)
		}
	})
}

// What the runtime has for it is back after the end: a traceback and exit 2.
func TestEndGivesSignalsBack(t *testing.T) {
	if os.Getenv("SIGNALS_QUIT") != "" {
		var l log
		listener := Listen([]syscall.Signal{syscall.SIGQUIT}, l.note)
		send(t, syscall.SIGQUIT)
		l.await(t, syscall.SIGQUIT)
		listener.Close()
		send(t, syscall.SIGQUIT)
		select {}
	}
	again := exec.Command(os.Args[0], "-test.run=^TestEndGivesSignalsBack$")
	again.Env = append(os.Environ(), "SIGNALS_QUIT=1")
	out, _ := again.CombinedOutput()
	if code := again.ProcessState.ExitCode(); code != 2 || !strings.Contains(string(out), "SIGQUIT: quit") {
		t.Errorf("exit %d\n%s", code, out)
	}
}
