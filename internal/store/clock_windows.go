package store

import (
	"strconv"
	"time"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// bootClock returns the number of this boot, which Windows counts in the
// registry, and the time since it began, sleep included.
func bootClock() (string, time.Duration) {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE,
		`SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management\PrefetchParameters`,
		registry.QUERY_VALUE)
	if err != nil {
		return "", 0
	}
	defer key.Close()
	id, _, err := key.GetIntegerValue("BootId")
	if err != nil {
		return "", 0
	}
	return strconv.FormatUint(id, 10), windows.DurationSinceBoot()
}
