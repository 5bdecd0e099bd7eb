package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData makes the content of a new file, and what is needed to read it,
// survive a power cut. Its other times are of no use.
func syncData(file *os.File) error {
	for {
		err := unix.Fdatasync(int(file.Fd()))
		if err != unix.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
