//go:build unix && !linux

package process

import "os"

func systemSignals() []os.Signal { return nil }
