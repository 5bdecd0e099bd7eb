package store

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// fileSystem returns the type of the file system of a directory, and how many
// bytes its user may still write.
func fileSystem(dir string) (system string, free uint64) {
	volume, err := windows.UTF16PtrFromString(filepath.VolumeName(dir) + `\`)
	if err != nil {
		return "", 0
	}
	name := make([]uint16, windows.MAX_PATH+1)
	if windows.GetVolumeInformation(volume, nil, 0, nil, nil, nil, &name[0], uint32(len(name))) != nil ||
		windows.GetDiskFreeSpaceEx(volume, &free, nil, nil) != nil {
		return "", 0
	}
	return windows.UTF16ToString(name), free
}
