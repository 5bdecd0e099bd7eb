package store

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// bootClock returns the id of this boot and the time since it began.
func bootClock() (string, time.Duration) {
	boot := thisBoot()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil || boot.id == "" {
		return "", 0
	}
	return boot.id, time.Duration(now.Nano()) - boot.offset
}

// boot is what about the boot clock stays the same while a process lives.
type boot struct {
	id     string
	offset time.Duration
}

//nolint:gochecknoglobals // the system's; a run asks for it before the command and after
var thisBoot = sync.OnceValue(func() boot {
	var buffer [256]byte
	id := strings.TrimSpace(readSmall("/proc/sys/kernel/random/boot_id", buffer[:]))
	return boot{id, BootOffset()}
})

// BootOffset returns what the time namespace of this process adds to the boot
// clock, which readings do without; 0 outside a namespace.
func BootOffset() time.Duration {
	var buffer [256]byte
	return bootOffset(readSmall("/proc/self/timens_offsets", buffer[:]))
}

// bootOffset returns what a time namespace adds to the boot clock: containers
// may have one of their own, although the boot id is the machine's. The text
// has a line "boottime SECONDS NANOSECONDS".
func bootOffset(offsets string) time.Duration {
	for line := range strings.Lines(offsets) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[0] != "boottime" {
			continue
		}
		seconds, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return 0
		}
		nanoseconds, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			return 0
		}
		return time.Duration(seconds)*time.Second + time.Duration(nanoseconds)
	}
	return 0
}

// readSmall reads a small file of the kernel with as few system calls as there
// can be, because every run of a command reads two of them. It returns
// "" when there is no such file.
func readSmall(path string, buffer []byte) string {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	n, err := unix.Read(fd, buffer)
	unix.Close(fd)
	if err != nil {
		return ""
	}
	return string(buffer[:n])
}
