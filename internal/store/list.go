package store

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"cb/internal/breaker"
)

// Entry is one circuit of a list, and the store's time when it was read.
type Entry struct {
	Name    string
	Circuit breaker.Circuit
	Now     time.Time
}

// listBatch is how many circuits List reads ahead of its consumer.
const listBatch = 128

// List returns all circuits in the order of their names. It takes no lock and
// writes nothing. A circuit that cannot be read comes as an error with its
// name and does not end the list. JSON of somebody else is left out. A missing
// store is an empty one.
func (d *Dir) List() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		dir, err := openFolder(d.Path)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(Entry{}, fmt.Errorf("open store: %w", err))
			return
		}
		defer dir.Close()
		names, broken, err := dir.names()
		if err != nil {
			yield(Entry{}, fmt.Errorf("list store: %w", err))
			return
		}
		for batch := range slices.Chunk(names, listBatch) {
			for _, one := range d.viewAll(dir, batch) {
				if one.missing {
					continue
				}
				if !yield(one.Entry, one.err) {
					return
				}
			}
		}
		for _, one := range broken {
			if !yield(one.Entry, one.err) {
				return
			}
		}
	}
}

// listed is an entry or the reason why there is none.
type listed struct {
	Entry
	missing bool // removed since its name was read, or somebody else's
	err     error
}

// viewAll reads circuits with all processors, for ten thousand of them are
// mostly work for the decoder.
func (d *Dir) viewAll(dir *folder, names []string) []listed {
	now := d.Clock() // once: it costs as much as reading a circuit
	clock := func() Reading { return now }
	return inParallel(names, func(i int) listed {
		c, now, found, err := d.view(dir, names[i], clock)
		return listed{Entry{names[i], c, now}, !found && err == nil || errors.Is(err, ErrForeign), err}
	})
}

// inParallel calls view for the index of each name.
func inParallel(names []string, view func(i int) listed) []listed {
	all := make([]listed, len(names))
	workers := min(runtime.GOMAXPROCS(0), len(names))
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for i := worker; i < len(names); i += workers {
				all[i] = view(i)
			}
		})
	}
	group.Wait()
	return all
}

// Names returns the names of all circuits in order, for completion: a file is
// read only where its name does not tell. A missing store has none.
func (d *Dir) Names() ([]string, error) {
	dir, err := openFolder(d.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	defer dir.Close()
	names, _, err := dir.names()
	if err != nil {
		return nil, fmt.Errorf("list store: %w", err)
	}
	return names, nil
}

// names returns the names of all circuits in order, and the files that should
// tell a name but do not.
func (dir *folder) names() (names []string, broken []listed, err error) {
	files, err := dir.startingWith("")
	if err != nil {
		return nil, nil, err
	}
	for _, file := range files {
		base, ok := strings.CutSuffix(file, dataEnding)
		switch {
		case !ok: // a lock, a lease, or somebody else's
		case isPlain(base):
			names = append(names, base)
		case isHashed(base):
			name, err := dir.trueName(base)
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				broken = append(broken, listed{Entry: Entry{Name: base}, err: err})
			default:
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names, broken, nil
}

// trueName reads the name in a file whose own name is only a hash of it.
func (dir *folder) trueName(base string) (string, error) {
	data, err := dir.read(base + dataEnding)
	if errors.Is(err, errUnfit) {
		return "", fmt.Errorf("circuit %q is %w: %v", base, ErrCorrupt, err)
	}
	if err != nil {
		return "", fmt.Errorf("read circuit %q: %w", base, err)
	}
	name, err := decodeName(data)
	switch {
	case err != nil:
		err = explain(data, err)
	case baseName(name) != base:
		err = isAnother(name)
	}
	if err != nil {
		return "", fmt.Errorf("circuit %q is %w: %v", base, ErrCorrupt, err)
	}
	return name, nil
}
