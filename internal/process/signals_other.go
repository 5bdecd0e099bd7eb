//go:build unix && !linux

package process

import "syscall"

func systemSignals() []syscall.Signal { return nil }

// diesOf is not known here: a signal rather arrives twice than never.
func diesOf(int, syscall.Signal) bool { return true }
