package process

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Raise makes this process die of sig, so that its parent sees what it would
// have seen of the command. It returns only when that cannot be done (the
// first process of a namespace cannot die of a signal it does not handle).
func Raise(sig syscall.Signal) {
	if sig <= 0 || os.Getpid() == 1 {
		return
	}
	// The command has left its core file already.
	dropCore()
	unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)

	// The runtime handles signals and gives some of them a meaning of its own
	// (a traceback and exit 2), so it has to be asked past.
	runtime.LockOSThread()
	setDefault(sig)
	var set unix.Sigset_t
	bits := int(unsafe.Sizeof(set.Val[0])) * 8
	set.Val[(int(sig)-1)/bits] |= 1 << ((int(sig) - 1) % bits)
	unix.PthreadSigmask(unix.SIG_UNBLOCK, &set, nil)
	unix.Tgkill(os.Getpid(), unix.Gettid(), sig) // does not return
	runtime.UnlockOSThread()
	raiseByShell(sig)
}

// setDefault is rt_sigaction with the structure of the kernel, in which the
// default action is all zeros on every architecture.
func setDefault(sig syscall.Signal) {
	const size = 64 // more than any architecture reads
	var action [size]byte
	for _, setSize := range []uintptr{8, 16} { // 16 on MIPS, the others take only 8
		_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig),
			uintptr(unsafe.Pointer(&action)), 0, setSize, 0, 0)
		if errno == 0 {
			return
		}
	}
}
