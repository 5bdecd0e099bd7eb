package process

import "syscall"

func systemSignals() []syscall.Signal { return []syscall.Signal{syscall.SIGPWR} }
