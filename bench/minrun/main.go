// Command minrun starts a command and waits for it: what any wrapper written in Go pays at least.
package main

import (
	"os"
	"os/exec"
)

func main() {
	command := exec.Command(os.Args[1], os.Args[2:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		os.Exit(1)
	}
}
