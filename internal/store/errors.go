package store

import "errors"

// ErrNewer says that a circuit was written by a newer version, whose document
// this one must not touch.
var ErrNewer = errors.New("written by a newer version of cb")

// ErrCorrupt says that what is stored is not a circuit. Only readings return
// it: Update sets the damage aside and starts from a closed circuit.
var ErrCorrupt = errors.New("damaged")

// ErrForeign says that what has the name of a circuit's document is JSON of
// somebody else: an object without a schema. It is neither used nor touched.
var ErrForeign = errors.New("not a circuit of cb")

// foreign is ErrForeign with the name of the file.
type foreign struct{ file string }

func (f foreign) Error() string { return f.file + " is " + ErrForeign.Error() }

func (foreign) Is(target error) bool { return target == ErrForeign || target == ErrUnread }

// ErrUnread says of a change that it failed before it began: the circuit could
// not be read.
var ErrUnread = errors.New("cannot be read")

// unread is an error that is ErrUnread too.
type unread struct{ error }

func (unread) Is(target error) bool { return target == ErrUnread }

func (u unread) Unwrap() error { return u.error }

// ErrLocked says that the lock of a circuit did not come free in time.
var ErrLocked = errors.New("locked by another process")

// Cause returns the innermost reason of an error in a few words, such as
// "no space left on device", for a line that has named the circuit already.
func Cause(err error) string {
	for {
		switch wrapped := err.(type) {
		case interface{ Unwrap() error }:
			inner := wrapped.Unwrap()
			if inner == nil {
				return err.Error()
			}
			err = inner
		default:
			return err.Error()
		}
	}
}
