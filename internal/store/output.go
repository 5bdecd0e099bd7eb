package store

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// outputEnding is the ending of the file with the output of the last
// successful run, which a fallback may replay.
const outputEnding = ".stdout"

// SaveOutput keeps the output of a circuit's last successful run, replacing
// what was kept before as a whole. It is as private as the circuit.
func (d *Dir) SaveOutput(name string, output []byte) error {
	dir, err := makeFolder(d.Path)
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	defer dir.Close()
	base := baseName(name)
	if err := dir.replace(base+outputEnding, uniqueName(base+outputEnding+tempEnding), output); err != nil {
		return fmt.Errorf("write output of circuit %q: %w", name, err)
	}
	now := d.Clock().Wall
	if err := dir.Chtimes(base+outputEnding, now, now); err != nil {
		return fmt.Errorf("date output of circuit %q: %w", name, err)
	}
	return nil
}

// Output returns what SaveOutput kept, byte for byte, and how old it is by the
// wall clock; found is false when there is none.
func (d *Dir) Output(name string) (output []byte, age time.Duration, found bool, err error) {
	dir, err := openFolder(d.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, false, nil
	}
	if err != nil {
		return nil, 0, false, fmt.Errorf("open store: %w", err)
	}
	defer dir.Close()
	file := baseName(name) + outputEnding
	info, err := dir.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, false, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = errUnfit
	}
	if err == nil {
		output, err = dir.ReadFile(file)
	}
	if err != nil {
		return nil, 0, false, fmt.Errorf("read output of circuit %q: %w", name, err)
	}
	return output, max(0, d.Clock().Wall.Sub(info.ModTime())), true, nil
}
