//go:build unix

package process

import (
	"os"
	"strconv"
	"syscall"
)

func dropCore() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		syscall.Setrlimit(syscall.RLIMIT_CORE, &limit)
	}
}

// raiseByShell replaces this process by a shell that sends itself the signal;
// exec sets every signal that was caught back to its default.
func raiseByShell(sig syscall.Signal) {
	number := strconv.Itoa(int(sig))
	line := "kill -" + number + " $$; exit " + strconv.Itoa(codeSignal+int(sig))
	syscall.Exec(shell, []string{"sh", "-c", line}, os.Environ())
}
