//go:build !windows

package store

// homeVariable names the home directory in the environment.
const homeVariable = "HOME"
