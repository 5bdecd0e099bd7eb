package store

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// fileSystem returns the type of the file system of a directory, and how many
// bytes its user may still write.
func fileSystem(dir string) (system string, free uint64) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return "", 0
	}
	free = s.Bavail * uint64(s.Bsize)
	known := map[uint32]string{
		unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs",
		unix.F2FS_SUPER_MAGIC: "f2fs", unix.OVERLAYFS_SUPER_MAGIC: "overlay", unix.TMPFS_MAGIC: "tmpfs",
		unix.RAMFS_MAGIC: "ramfs", unix.NFS_SUPER_MAGIC: "nfs", unix.SMB2_SUPER_MAGIC: "cifs",
		unix.SMB_SUPER_MAGIC: "smb", 0xff534d42: "cifs", unix.V9FS_MAGIC: "9p", unix.FUSE_SUPER_MAGIC: "fuse",
		unix.MSDOS_SUPER_MAGIC: "vfat", 0x2011bab0: "exfat", unix.ECRYPTFS_SUPER_MAGIC: "ecryptfs",
		unix.CEPH_SUPER_MAGIC: "ceph", unix.AFS_SUPER_MAGIC: "afs", 0x2fc12fc1: "zfs", 0xca451a4e: "bcachefs",
	}
	if name := known[uint32(s.Type)]; name != "" {
		return name, free
	}
	return fmt.Sprintf("type %#x", uint32(s.Type)), free
}
