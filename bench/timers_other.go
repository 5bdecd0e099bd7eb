//go:build unix && !linux

package main

func delayTimers() error { return nil }
