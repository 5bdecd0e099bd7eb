//go:build amd64 || arm64

package signals

import (
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// piped is a Listener by a pipe: a handler of a few instructions, of which the
// runtime knows nothing, writes the number of each signal into it. To catch a
// signal costs one system call, where os/signal hands it from thread to thread
// twice, and Settle waits for no other thread.
type piped struct {
	list []syscall.Signal
	note func(syscall.Signal)
}

// The pipe stays for the life of the process: a handler that is under way on
// some thread must not write to what has become another file.
//
//nolint:gochecknoglobals // actions belong to the process, and a handler is given nothing
var (
	mu        sync.Mutex
	in        *os.File
	from      int   // its descriptor; to ask the file would make it block
	out       int32 // where handler writes
	process   int32 // the number of this process and of its main thread
	listeners []*piped
	replaced  [65]action // what the runtime does with a signal that is caught
)

// action is the kernel's struct sigaction.
type action struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

// byMain is added to the number of a signal that the main thread handled.
const byMain = 0x80

// The kernel's flags of an action.
const (
	flagRestorer = 0x04000000
	flagOnStack  = 0x08000000
	flagRestart  = 0x10000000
)

// entries returns the addresses of the handler and of what it returns to; 0 for
// the kernel's own.
func entries() (handler, restorer uintptr)

// usable reports whether there is a pipe. It is asked once: one that came later
// would take the signals from those who listen by the runtime.
//
//nolint:gochecknoglobals // of the process, too
var usable = sync.OnceValue(func() bool { return !anyBlocked() && openPipe() })

func listenByPipe(list []syscall.Signal, note func(syscall.Signal)) (Listener, bool) {
	if !usable() {
		return nil, false
	}
	mu.Lock()
	defer mu.Unlock()
	if len(listeners) == 0 {
		in.SetReadDeadline(time.Time{})
		go listen()
	}
	p := &piped{list: list, note: note}
	for _, sig := range list {
		if !wanted(sig) {
			catch(sig)
		}
	}
	listeners = append(listeners, p)
	return p, true
}

// anyBlocked reports whether this process was started with signals blocked: such
// a one has to be let in on some thread, and the runtime has one for that.
func anyBlocked() bool {
	var set unix.Sigset_t
	err := unix.PthreadSigmask(unix.SIG_BLOCK, nil, &set)
	return err != nil || set != unix.Sigset_t{}
}

func openPipe() bool {
	var ends [2]int
	if unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK) != nil {
		return false
	}
	in, from, out = os.NewFile(uintptr(ends[0]), "signals"), ends[0], int32(ends[1])
	process = int32(unix.Getpid())
	return true
}

func wanted(sig syscall.Signal) bool {
	return slices.ContainsFunc(listeners, func(p *piped) bool { return slices.Contains(p.list, sig) })
}

func catch(sig syscall.Signal) {
	handler, restorer := entries()
	ours := action{handler: handler, flags: flagOnStack | flagRestart, restorer: restorer, mask: ^uint64(0)}
	if restorer != 0 {
		ours.flags |= flagRestorer
	}
	setAction(sig, &ours, &replaced[sig])
}

func setAction(sig syscall.Signal, to, before *action) {
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), //nolint:errcheck // it fails for KILL and STOP alone
		uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(before)), unsafe.Sizeof(to.mask), 0, 0)
}

// listen tells of what comes until the deadline that the last Close sets.
func listen() {
	if raw, err := in.SyscallConn(); err == nil {
		_ = raw.Read(func(uintptr) bool { drain(); return false })
	}
}

// drain tells of all that is in the pipe.
func drain() {
	mu.Lock()
	defer mu.Unlock()
	var numbers [64]byte
	for {
		n, err := syscall.Read(from, numbers[:])
		if err == syscall.EINTR {
			continue
		}
		if n <= 0 {
			return
		}
		for _, number := range numbers[:n] {
			tell(number)
		}
	}
}

// tell takes care that the end of a child is told of last. What is sent to the
// process the main thread handles, if it can, but the end of a child the thread
// that started it, which may be faster: such an end is sent on to the main
// thread, where it follows what is under way.
func tell(number byte) {
	sig := syscall.Signal(number &^ byMain)
	if sig == syscall.SIGCHLD && number&byMain == 0 {
		unix.Tgkill(int(process), int(process), sig)
		return
	}
	for _, p := range listeners {
		if slices.Contains(p.list, sig) {
			p.note(sig)
		}
	}
}

// Settle makes this thread handle whatever is pending: a signal of its own is
// handled before the call that sends it returns, and the others with it. URG is
// the one that the runtime expects to be sent for nothing. (To keep the
// goroutine on its thread meanwhile would make the runtime start another.)
func (p *piped) Settle() {
	for {
		thread := unix.Gettid()
		unix.Tgkill(unix.Getpid(), thread, syscall.SIGURG)
		if unix.Gettid() == thread {
			break
		}
	}
	drain()
}

// Close may be called again.
func (p *piped) Close() {
	drain()
	mu.Lock()
	defer mu.Unlock()
	i := slices.Index(listeners, p)
	if i < 0 {
		return
	}
	listeners = slices.Delete(listeners, i, i+1)
	for _, sig := range p.list {
		if !wanted(sig) {
			setAction(sig, &replaced[sig], nil)
		}
	}
	if len(listeners) == 0 {
		in.SetReadDeadline(time.Unix(1, 0))
	}
}
