//go:build !linux

package store

import "time"

// BootOffset returns 0: only Linux has time namespaces.
func BootOffset() time.Duration { return 0 }
