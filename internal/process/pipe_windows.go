package process

import (
	"errors"

	"golang.org/x/sys/windows"
)

// ReaderGone reports whether a write failed because nobody reads any more.
func ReaderGone(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}

// copyRest has nothing to do: pipes have no deadline on Windows.
func (s stream) copyRest([]byte) {}
