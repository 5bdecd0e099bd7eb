// Package config reads the configuration file: what it says, and where.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// MaxSize is the most that a configuration file may hold, in bytes.
const MaxSize = 1 << 20

// File is what a configuration file says. The zero value says nothing.
type File struct {
	// Path is where the file is, or would be; "" when there is no such place.
	Path string
	// Found tells whether it exists.
	Found bool
	// Circuits are the tables of circuits, in the order of the file.
	Circuits []Table
	// Settings are the values of all tables, in the order of the file.
	Settings []Setting
}

// Table is one circuit's.
type Table struct {
	Circuit string
	Line    int
}

// Setting is one value of a table.
type Setting struct {
	Circuit string // "" for [defaults]
	Key     string
	Value   Value
	Line    int
}

// Value is what a key is set to.
type Value struct {
	Kind  Kind
	Text  string  // of all kinds but arrays and tables, as a command line would have it
	Items []Value // of an array
}

// Kind is the type of a value.
type Kind int

// The kinds of TOML. Date is that of all dates and times.
const (
	String Kind = iota
	Integer
	Float
	Boolean
	Date
	Array
	Dict // an inline table
)

// Error is what is wrong with a configuration file.
type Error struct {
	Path string
	Line int // 0: it cannot be read at all
	Err  error
	Hint string // what to do about it, or ""
}

// Error names the file and the line.
func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("cannot read %s (%v)", e.Path, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.Path, e.Line, e.Err)
}

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// ErrHidden says that nobody can tell whether there is a file: its directory
// may not be searched.
var ErrHidden = errors.New("nobody can tell whether there is a configuration file")

// Read returns what the file at path says. One that does not exist says
// nothing, and costs a single call of the system. Errors are of type *Error or,
// where the file may not even exist, ErrHidden.
func Read(path string) (File, error) {
	if path == "" {
		return File{}, nil
	}
	switch _, err := os.Lstat(path); { // a link that leads nowhere is a file that is missed
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return File{Path: path}, nil
	case errors.Is(err, fs.ErrPermission):
		return File{Path: path}, ErrHidden
	}
	data, err := read(path)
	if err != nil {
		wrong := &Error{Path: path, Err: err}
		if errors.Is(err, errNotRegular) {
			wrong.Hint = "write the configuration to a file; what is read once cannot serve every run"
		}
		return File{}, wrong
	}
	file := File{Path: path, Found: true}
	if err := file.parse(data); err != nil {
		return File{}, err
	}
	return file, nil
}

func read(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO must not stop us
	if err != nil {
		return nil, cause(err)
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, cause(err)
	case isNull(info):
		return nil, nil
	case info.IsDir():
		return nil, syscall.EISDIR
	case !info.Mode().IsRegular():
		return nil, errNotRegular
	}
	var data bytes.Buffer
	switch n, err := io.Copy(&data, io.LimitReader(f, MaxSize+1)); {
	case err != nil:
		return nil, cause(err)
	case n > MaxSize:
		return nil, errors.New("larger than 1 MiB, which no configuration is")
	}
	// Editors on Windows put a mark in front of UTF-8.
	return bytes.TrimPrefix(data.Bytes(), []byte("\ufeff")), nil
}

// errNotRegular says that there is a FIFO, a socket or a device.
var errNotRegular = errors.New("not a regular file")

// isNull reports whether a file is the null device, which says nothing.
func isNull(info fs.FileInfo) bool {
	if info.Mode().IsRegular() {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}

// cause strips the path and the call from an error of the system.
func cause(err error) error {
	var trouble *fs.PathError
	if errors.As(err, &trouble) {
		return trouble.Err
	}
	return err
}
