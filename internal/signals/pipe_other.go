//go:build !linux || !(amd64 || arm64)

package signals

import "syscall"

func listenByPipe([]syscall.Signal, func(syscall.Signal)) (Listener, bool) { return nil, false }
