package store

import (
	"context"
	"testing"
	"time"
)

// TestPace wants pauses that follow what a turn takes, so that a crowd on one
// machine does not spend its time on looking.
func TestPace(t *testing.T) {
	now := time.Now()
	var p pace
	for _, look := range []struct {
		name       string
		after      time.Duration
		ahead      int64
		least, all time.Duration
	}{
		{"nothing is known", 0, 100, 25 * time.Millisecond, 50 * time.Millisecond},
		{"ten turns of 5 ms", 50 * time.Millisecond, 90, 225 * time.Millisecond, 450 * time.Millisecond},
		{"it stands still", 300 * time.Millisecond, 90, 450 * time.Millisecond, 900 * time.Millisecond},
		{"it still does", 600 * time.Millisecond, 90, mostPause / 2, mostPause},
		{"it began anew, and this one is last", time.Second, 500, mostPause / 2, mostPause},
		{"quicker than usual", time.Millisecond, 10, usualTurn * 5, usualTurn * 10},
		{"one is ahead", 9 * time.Millisecond, 1, leastPause, leastPause},
		{"more than can be", time.Millisecond, 1 << 62, mostPause / 4, mostPause},
	} {
		now = now.Add(look.after)
		if got := p.pause(look.ahead, now); got < look.least || got > look.all {
			t.Errorf("%s: a pause of %v, want %v to %v", look.name, got, look.least, look.all)
		}
	}
	for range 100 {
		if got := p.pause(1, now); got > mostPause {
			t.Fatalf("a queue that stands still: a pause of %v, want at most %v", got, mostPause)
		}
	}
}

// TestWaitLooksBeforeTheEnd wants a pause that is longer than what is left to
// end in time for another look, and none when there is no time.
func TestWaitLooksBeforeTheEnd(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	looks := 0
	for wait(ctx, time.Hour) {
		looks++
	}
	if looks < 2 {
		t.Errorf("%d looks, want more of them as the end comes nearer", looks)
	}
	if wait(ctx, 0) {
		t.Error("there is no time, but it waits")
	}
}
