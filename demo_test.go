//go:build unix

package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDemoIsInterrupted presses ^C in the middle of the tour, which then dies
// of it, and leaves nothing behind.
func TestDemoIsInterrupted(t *testing.T) {
	for _, after := range []string{"$ cb r", "service: done"} {
		temp := t.TempDir()
		s := startTerminal(t, t.TempDir(), 80, 24, []string{"TMPDIR=" + temp}, "demo")
		for end := time.Now().Add(patience); !strings.Contains(s.text(), after); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("it never showed %q:\n%s", after, s.text())
			}
		}
		if _, err := s.file.Write([]byte{'c' & 0x1f}); err != nil {
			t.Fatal(err)
		}
		if status := s.ends(); status.Signal() != syscall.SIGINT {
			t.Errorf("after %q it ended with %v", after, s.cb.ProcessState)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("after %q it left %v, %v", after, left, err)
		}
		for end := time.Now().Add(patience); !strings.HasSuffix(s.text(), "\n"); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the prompt would stand behind %q", s.text()[strings.LastIndexByte(s.text(), '\n')+1:])
			}
		}
	}
}
