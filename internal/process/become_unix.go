//go:build unix

package process

import "syscall"

// Become replaces this process by another program. It returns only an error.
func Become(program string, argv, env []string) error { return syscall.Exec(program, argv, env) }
