package process

import "syscall"

// caughtSignals are the console's: ^C and ^Break arrive as an interrupt, and
// the command in the same console has them too; closing, logging off and
// shutting down arrive as TERM.
func caughtSignals() []syscall.Signal { return []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} }
