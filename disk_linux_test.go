package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// disk is a file that remembers in which order it was written and synced: a
// FUSE file system of one file, in which a loop device can be.
type disk struct {
	path  string
	image *os.File // as if all was kept
	fuse  int      // the descriptor of the connection

	mu  sync.Mutex
	log []block // what was asked of the disk, oldest first
}

// block is a write, or a sync when it has no data.
type block struct {
	at   int64
	data []byte
}

// newDisk serves an image at an empty file.
func newDisk(t *testing.T, image, path string) *disk {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(image, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	fuse, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("/dev/fuse: %v", err)
	}
	if err := unix.Mount("disk", path, "fuse", 0, fmt.Sprintf("fd=%d,rootmode=100600,user_id=0,group_id=0", fuse)); err != nil {
		unix.Close(fuse)
		t.Skipf("mount of fuse: %v", err)
	}
	d := &disk{path: path, image: file, fuse: fuse}
	served := make(chan struct{})
	go func() {
		defer close(served)
		d.serve()
	}()
	t.Cleanup(func() {
		_ = unix.Unmount(path, unix.MNT_DETACH) // the connection ends with its last user
		<-served
		unix.Close(fuse)
	})
	return d
}

// position is how much has been asked of the disk.
func (d *disk) position() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.log)
}

func (d *disk) remember(b block) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log = append(d.log, b)
}

// The requests of FUSE that one open file gets.
const (
	fuseForget, fuseGetattr, fuseSetattr, fuseOpen, fuseRead, fuseWrite = 2, 3, 4, 14, 15, 16
	fuseRelease, fuseFsync, fuseFlush, fuseInit, fuseInterrupt          = 18, 20, 25, 26, 36
	mostWritten                                                         = 1 << 17
)

// serve answers until the file is unmounted.
func (d *disk) serve() {
	buffer := make([]byte, mostWritten+1<<12)
	for {
		n, err := unix.Read(d.fuse, buffer)
		switch err {
		case nil:
		case unix.EINTR, unix.ENOENT, unix.EAGAIN:
			continue
		default:
			return
		}
		operation := binary.NativeEndian.Uint32(buffer[4:])
		if operation == fuseForget || operation == fuseInterrupt {
			continue
		}
		data, wrong := d.answer(operation, buffer[40:n])
		reply := binary.NativeEndian.AppendUint32(nil, uint32(16+len(data)))
		reply = binary.NativeEndian.AppendUint32(reply, uint32(-int32(wrong)))
		reply = append(reply, buffer[8:16]...) // which request it is
		_, _ = unix.Write(d.fuse, append(reply, data...))
	}
}

func (d *disk) answer(operation uint32, request []byte) ([]byte, unix.Errno) {
	native := binary.NativeEndian
	switch operation {
	case fuseInit:
		reply := make([]byte, 64)
		native.PutUint32(reply, 7)
		native.PutUint32(reply[4:], 31)
		native.PutUint32(reply[12:], 1<<5) // writes of more than a page
		native.PutUint32(reply[20:], mostWritten)
		return reply, 0
	case fuseGetattr, fuseSetattr:
		info, err := d.image.Stat()
		if err != nil {
			return nil, unix.EIO
		}
		reply := make([]byte, 104)
		native.PutUint64(reply, 3600) // seconds for which it holds
		native.PutUint64(reply[16:], 1)
		native.PutUint64(reply[24:], uint64(info.Size()))
		native.PutUint32(reply[76:], unix.S_IFREG|0o600)
		native.PutUint32(reply[80:], 1)
		return reply, 0
	case fuseOpen:
		return make([]byte, 16), 0
	case fuseRead:
		data := make([]byte, native.Uint32(request[16:]))
		n, _ := d.image.ReadAt(data, int64(native.Uint64(request[8:]))) // short at the end
		return data[:n], 0
	case fuseWrite:
		b := block{int64(native.Uint64(request[8:])), append([]byte(nil), request[40:]...)}
		if _, err := d.image.WriteAt(b.data, b.at); err != nil {
			return nil, unix.EIO
		}
		d.remember(b)
		return native.AppendUint64(nil, uint64(len(b.data))), 0
	case fuseFsync:
		d.remember(block{})
		return nil, 0
	case fuseFlush, fuseRelease:
		return nil, 0
	}
	return nil, unix.ENOSYS
}

// replay makes of an older image what a power cut leaves.
type replay struct {
	log    []block
	image  *os.File
	synced int // how much of the log is in the image
}

// until brings the image to the last sync before a position.
func (r *replay) until(position int) error {
	last := r.synced
	for i := r.synced; i < position; i++ {
		if r.log[i].data == nil {
			last = i + 1
		}
	}
	for ; r.synced < last; r.synced++ {
		if b := r.log[r.synced]; b.data != nil {
			if _, err := r.image.WriteAt(b.data, b.at); err != nil {
				return err
			}
		}
	}
	return nil
}

// cut adds to a copy of the image some of the writes that no sync has followed.
func (r *replay) cut(copied string, position int) error {
	file, err := os.OpenFile(copied, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	some := rand.N(3) // none, half, all
	for _, b := range r.log[min(r.synced, position):position] {
		if rand.N(2) < some {
			if _, err := file.WriteAt(b.data, b.at); err != nil {
				return err
			}
		}
	}
	return file.Close()
}
