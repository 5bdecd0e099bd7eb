package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"cb/internal/breaker"
)

// Read returns a circuit as it stands and the store's time. It takes no lock
// and writes nothing. A missing store or circuit is found=false without an
// error; errors are ErrCorrupt, ErrNewer, or the system's.
func (d *Dir) Read(name string) (c breaker.Circuit, now time.Time, found bool, err error) {
	if err := CheckName(name); err != nil {
		return c, now, false, err
	}
	dir, err := openFolder(d.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, d.Clock().Wall, false, nil
	}
	if err != nil {
		return c, now, false, fmt.Errorf("open store: %w", err)
	}
	defer dir.Close()
	return d.view(dir, name, d.Clock)
}

// rereads is how often view looks again at a circuit that changes meanwhile.
const rereads = 10

// view reads a circuit without its lock. A lease is released after its probe
// has left the list, so a lease that is gone means a lost probe only when the
// document is still the same afterwards; and a count of refusals that
// goes with another writing is an older one only then.
func (d *Dir) view(dir *folder, name string, clock func() Reading) (c breaker.Circuit, now time.Time, found bool, err error) {
	var last []byte
	for range rereads {
		s, data, err := dir.fetch(name, decode)
		if err != nil {
			return breaker.Circuit{}, now, false, err
		}
		reading := clock()
		var lost bool
		c, lost = d.loseDead(baseName(name), s.at(reading))
		now, found = reading.Wall, s.found
		if !lost && !s.other || bytes.Equal(data, last) {
			break
		}
		last = data
	}
	return c, now, found, nil
}
