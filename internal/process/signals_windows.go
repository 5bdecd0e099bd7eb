package process

import (
	"os"
	"syscall"
)

// caughtSignals are the console's: ^C and ^Break arrive as an interrupt, and
// the command in the same console has them too; closing, logging off and
// shutting down arrive as TERM.
func caughtSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

func childSignals() []os.Signal { return nil }
