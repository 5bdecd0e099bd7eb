package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cb/internal/store"
)

// TestHistoryIsBounded makes more transitions than are kept.
func TestHistoryIsBounded(t *testing.T) {
	dir := t.TempDir()
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	now := store.SystemClock()
	seed := uint64(0)
	cb := func(stdout *os.File, args ...string) {
		t.Helper()
		code := Main(Env{
			Args: append(args, "--store", filepath.Join(dir, "store")), Stdout: stdout, Stderr: stdout,
			Environ: []string{"USER=alice", "HOME=" + dir},
			Clock:   func() store.Reading { return now },
			Seed:    func() uint64 { seed++; return seed },
		})
		if code != 0 {
			t.Fatalf("cb %q ends with %d", args, code)
		}
		now.Wall, now.Boot = now.Wall.Add(time.Second), now.Boot+time.Second
	}
	nothing, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer nothing.Close()
	for range 60 {
		cb(nothing, "trip", "api", "--reason", "again")
		cb(nothing, "reset", "api")
	}
	cb(out, "history", "api", "--json")
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	var history []struct {
		From, To, Cause, By string
		Reason              *string
		Seconds             *float64
	}
	if err := json.Unmarshal(text, &history); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if len(history) != 100 {
		t.Fatalf("%d transitions", len(history))
	}
	for i, one := range history {
		from, to := "closed", "open"
		if i%2 == 1 {
			from, to = "open", "closed"
		}
		if one.From != from || one.To != to || one.Cause != "operator" || one.By != "alice" || (one.Reason != nil) != (to == "open") {
			t.Errorf("transition %d is %+v", i, one)
		}
		if last := i == 99; (one.Seconds == nil) != last || !last && *one.Seconds != 1 {
			t.Errorf("transition %d lasted %v", i, one.Seconds)
		}
	}
}

func TestShellWord(t *testing.T) {
	for name, want := range map[string]string{
		"deploy-api": "deploy-api",
		"a/b:c@d":    "a/b:c@d",
		"two words":  "'two words'",
		"it's":       `'it'\''s'`,
		"$HOME":      "'$HOME'",
		"デプロイ":       "デプロイ",
		"-dash":      "-- '-dash'",
	} {
		if got := shellWord(name); got != want {
			t.Errorf("%s is written %s, want %s", name, got, want)
		}
	}
}
