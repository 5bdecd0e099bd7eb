//go:build unix

package signals

import "syscall"

// marker is a signal that means no harm to a process that is sent it for
// nothing.
const marker = syscall.SIGCHLD

func always() []syscall.Signal { return []syscall.Signal{marker} }

func isMarker(sig syscall.Signal) bool { return sig == marker }

func sendMarker() bool { return syscall.Kill(syscall.Getpid(), marker) == nil }
