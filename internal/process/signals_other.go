//go:build unix && !linux

package process

import "syscall"

func systemSignals() []syscall.Signal { return nil }
