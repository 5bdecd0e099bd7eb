//go:build !windows

package place

// homeVariable names the home directory in the environment.
const homeVariable = "HOME"
