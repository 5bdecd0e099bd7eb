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
	os.Exit(cmd.Main(environment()))
}

// environment is the only place that reads the process's own surroundings.
func environment() cmd.Env {
	return cmd.Env{
		Args:     os.Args[1:],
		Environ:  os.Environ(),
		Stdin:    os.Stdin,
		Stdout:   os.Stdout,
		Stderr:   os.Stderr,
		Clock:    store.SystemClock,
		Seed:     rand.Uint64,
		PID:      os.Getpid(),
		Hostname: os.Hostname,
		Raise:    process.Raise,
		Version:  version(),
	}
}

// version is the module's, which a release build and go install know.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
