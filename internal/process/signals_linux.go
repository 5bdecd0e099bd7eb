package process

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

func systemSignals() []syscall.Signal { return []syscall.Signal{syscall.SIGPWR} }

// diesOf reports whether a process neither catches nor ignores a signal: if it is
// there, it has not had it yet. One that cannot be asked has mostly gone.
func diesOf(pid int, sig syscall.Signal) bool {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return true
	}
	for line := range strings.SplitSeq(string(status), "\n") {
		name, set, _ := strings.Cut(line, ":\t")
		switch name {
		case "SigIgn", "SigCgt":
			bits, err := strconv.ParseUint(set, 16, 64)
			if err != nil || bits>>(sig-1)&1 != 0 {
				return false
			}
		}
	}
	return true
}
