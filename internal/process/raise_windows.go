package process

import "syscall"

// Raise does nothing on Windows, where no process dies of a signal.
func Raise(syscall.Signal) {}
