package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"cb/internal/breaker"
)

// To refuse is what an open circuit does all day, and it changes a counter and
// nothing else. That is not worth a document that is written anew and synced:
// refusals are counted in a small file beside it, in place and under the same
// lock. The file names the writing of the document that its count goes with;
// the next writing has the refusals in it and, by its new name, voids the
// count. A power cut may forget the last of them, never anything else.

// refusedEnding is the ending of the file with the count.
const refusedEnding = ".refused"

// refusedFormat has a fixed length, so that a count is written over another in
// one step.
const (
	refusedFormat = "%016x %016x\n"
	countSize     = 16 + 1 + 16 + 1
)

// isCountText reports whether a text is a count of refusals, or the beginning
// of one, or what a power cut makes of that: NULs.
func isCountText(data []byte) bool {
	if len(data) > countSize {
		return false
	}
	for i, b := range data {
		switch {
		case b == 0:
		case i == 16:
			if b != ' ' {
				return false
			}
		case i == countSize-1:
			if b != '\n' {
				return false
			}
		case (b < '0' || b > '9') && (b < 'a' || b > 'f'):
			return false
		}
	}
	return true
}

// withRefusals adds to a circuit those that are counted beside it.
func (dir *folder) withRefusals(base string, s snapshot) snapshot {
	if s.circuit.State == breaker.Closed && s.circuit.Override.Kind != breaker.Held {
		return s // it does not refuse
	}
	data, err := dir.read(base + refusedEnding)
	if err != nil { // no reason to stop
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errUnfit) {
			s.uncounted = err
		}
		return s
	}
	first, second, _ := strings.Cut(strings.TrimSuffix(string(data), "\n"), " ")
	write, wrong := strconv.ParseUint(first, 16, 64)
	refused, also := strconv.ParseUint(second, 16, 31)
	if s.other = wrong != nil || also != nil || write != s.write; s.other {
		return s
	}
	s.refused = int(refused)
	s.circuit = s.circuit.Skip(s.refused)
	return s
}

// countsRefusal reports whether a change was a refusal and nothing else, and
// has been counted.
func (dir *folder) countsRefusal(base string, old snapshot, before, after breaker.Circuit) bool {
	if !old.found || old.write == 0 || after.Totals.Refused != before.Totals.Refused+1 || !sameCircuit(before.Skip(1), after) {
		return false
	}
	file, err := dir.openCount(base + refusedEnding)
	if err != nil {
		return false
	}
	defer file.Close()
	_, err = fmt.Fprintf(file, refusedFormat, old.write, old.refused+1)
	return err == nil
}

// openCount opens the file with a count to write over it. Whatever else lies
// there is not touched: a hard link may lead to a file that must not be written.
func (dir *folder) openCount(name string) (*os.File, error) {
	file, info, err := dir.openRegular(name, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return dir.create(name)
	}
	if err != nil {
		return nil, err
	}
	data := make([]byte, countSize+1)
	n, err := file.ReadAt(data, 0)
	if errors.Is(err, io.EOF) && hasOneName(info) && isCountText(data[:n]) {
		return file, nil
	}
	file.Close()
	return nil, errUnfit
}
