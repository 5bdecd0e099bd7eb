package process

import "errors"

// Become returns an error: a process cannot be replaced here.
func Become(string, []string, []string) error { return errors.ErrUnsupported }
