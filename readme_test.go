package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cb/internal/store"
)

// TestReadme runs the transcript of the README and compares what it shows. A
// leading "sleep N;" moves the fake clock, and the service is back after it.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(readme), "```console\n")
	transcript, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("README.md has no console block")
	}
	dir := t.TempDir()
	clock := filepath.Join(dir, ".clock")
	now := store.Reading{Wall: time.Date(2026, 3, 1, 14, 0, 0, 0, time.UTC), BootID: "boot-1", Boot: time.Hour}
	service := func(script string) {
		if err := os.WriteFile(filepath.Join(dir, "deploy"), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	service("echo deploy: cannot reach the api >&2; exit 7")
	for step := range strings.SplitSeq(transcript, "$ ") {
		line, want, _ := strings.Cut(step, "\n")
		if line == "" {
			continue
		}
		if pause, rest, ok := strings.Cut(line, "; "); ok && strings.HasPrefix(pause, "sleep ") {
			by, err := time.ParseDuration(strings.TrimPrefix(pause, "sleep ") + "s")
			if err != nil {
				t.Fatal(err)
			}
			line, now.Wall, now.Boot = rest, now.Wall.Add(by), now.Boot+by
			service("echo deployed")
		}
		if err := writeClock(clock, now); err != nil {
			t.Fatal(err)
		}
		c := exec.Command("sh", "-c", line)
		c.Dir = dir
		c.Env = append(os.Environ(), "CB_STORE="+filepath.Join(dir, "store"), "XDG_CONFIG_HOME="+dir, clockFile+"="+clock, "TZ=UTC")
		got, _ := c.CombinedOutput() // the exit code is part of the transcript
		if string(got) != want {
			t.Errorf("$ %s\ngot:\n%swant:\n%s", line, got, want)
		}
	}
}
