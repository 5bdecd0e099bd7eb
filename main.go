// Command cb runs a command through a circuit breaker.
package main

import (
	"math/rand/v2"
	"os"
	"runtime/debug"

	"cb/cmd"
	"cb/internal/process"
	"cb/internal/store"
)

func main() {
	growStack()
	os.Exit(cmd.Main(environment()))
}

// growStack makes room for all that follows in one step, while there is next to
// nothing on the stack to be moved: to double it five times on the way takes a
// twentieth of the time of a refusal.
//
//go:noinline
func growStack() byte {
	var room [24 << 10]byte
	return room[len(os.Args)%len(room)]
}

// environment is the only place that reads the process's own surroundings.
func environment() cmd.Env {
	return cmd.Env{
		Args:       os.Args[1:],
		Environ:    os.Environ(),
		Stdin:      os.Stdin,
		Stdout:     os.Stdout,
		Stderr:     os.Stderr,
		Clock:      store.SystemClock,
		Seed:       rand.Uint64,
		PID:        os.Getpid(),
		Hostname:   os.Hostname,
		Raise:      process.Raise,
		Version:    version(),
		Secure:     secure(),
		Executable: os.Executable,
		Become:     process.Become,
	}
}

// version is the module's, which a release build and go install know.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
