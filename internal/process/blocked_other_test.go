//go:build unix && !linux

package process

func blockedMain([]string) int { return 96 }
