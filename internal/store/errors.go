package store

import "errors"

// ErrNewer says that a circuit was written by a newer version, whose document
// this one must not touch.
var ErrNewer = errors.New("written by a newer version of cb")

// ErrCorrupt says that what is stored is not a circuit. Only readings return
// it: Update sets the damage aside and starts from a closed circuit.
var ErrCorrupt = errors.New("damaged")

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
