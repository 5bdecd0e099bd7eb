package main

import (
	"strings"
	"testing"
)

// TestAcquireInACrowd asks for the permit of one probe from many processes at
// once, and records it from as many: one is let through, one counts.
func TestAcquireInACrowd(t *testing.T) {
	const crowd = 20
	f := newFleet(t)
	wait := func(<-chan ended) {}
	f.all(1, wait, "trip", "api", "--for", "1ms")
	permits := 0
	for _, end := range f.all(crowd, wait, "acquire", "api") {
		switch end.code {
		case 0:
			permits++
		case 75:
		default:
			t.Errorf("acquire ended with %d: %s", end.code, end.stderr)
		}
	}
	if permits != 1 {
		t.Fatalf("%d permits", permits)
	}
	f.all(1, wait, "reset", "api")
	word, err := f.cb("acquire", "api", "--threshold", "1").Output()
	if err != nil {
		t.Fatal(err)
	}
	late, opened := 0, 0
	for _, end := range f.all(crowd, wait, "record", strings.TrimSpace(string(word)), "failure") {
		if end.code != 0 {
			t.Errorf("record ended with %d: %s", end.code, end.stderr)
		}
		late += strings.Count(end.stderr, "cb: warning: this result of api is late")
		opened += strings.Count(end.stderr, "cb: api opened: 1 failure in a row")
	}
	if late != crowd-1 || opened != 1 {
		t.Errorf("%d say late and %d opened", late, opened)
	}
	status := f.status("api")
	if status.State != "open" || status.Totals.Failures != 1 || status.Totals.Late != crowd-1 {
		t.Errorf("the circuit is %+v", status)
	}
}
