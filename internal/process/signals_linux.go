package process

import (
	"os"
	"syscall"
)

func systemSignals() []os.Signal { return []os.Signal{syscall.SIGPWR} }
