package classify

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"cb/internal/breaker"
	"cb/internal/process"
)

func codes(t *testing.T, text string) Codes {
	t.Helper()
	var c Codes
	if text != "" {
		if err := c.Set(text); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func TestOutcome(t *testing.T) {
	lists := Rules{Success: codes(t, "3"), Ignore: codes(t, "4,60-69"), SlowAfter: time.Second}
	full := errors.New("no space left on device")
	noStart := errors.New("nosuch: command not found")
	only := Rules{Failure: codes(t, "5"), SlowAfter: time.Second}
	failure, ignore, both := Matches{Failure: true}, Matches{Ignore: true}, Matches{true, true}
	tests := []struct {
		name  string
		rules Rules
		end   process.Result
		found Matches
		want  breaker.Outcome
	}{
		{"zero", Rules{}, process.Result{}, Matches{}, breaker.Success},
		{"another code", Rules{}, process.Result{Code: 1}, Matches{}, breaker.Failure},
		{"listed success", lists, process.Result{Code: 3}, Matches{}, breaker.Success},
		{"listed ignored", lists, process.Result{Code: 4}, Matches{}, breaker.Ignored},
		{"start of range", lists, process.Result{Code: 60}, Matches{}, breaker.Ignored},
		{"end of range", lists, process.Result{Code: 69}, Matches{}, breaker.Ignored},
		{"past the range", lists, process.Result{Code: 70}, Matches{}, breaker.Failure},
		{"the only failure", only, process.Result{Code: 5}, Matches{}, breaker.Failure},
		{"not the only failure", only, process.Result{Code: 1}, Matches{}, breaker.Ignored},
		{"not found", Rules{}, process.Result{Code: 127}, Matches{}, breaker.Failure},
		{"not found, with other failures listed", only, process.Result{Code: 127, StartErr: noStart}, Matches{}, breaker.Failure},
		{"not runnable, with other failures listed", only, process.Result{Code: 126, StartErr: noStart}, Matches{}, breaker.Failure},
		{"not found, listed as ignored", Rules{Ignore: codes(t, "127")}, process.Result{Code: 127, StartErr: noStart}, Matches{}, breaker.Ignored},
		{"a shell's 127, with other failures listed", only, process.Result{Code: 127}, Matches{}, breaker.Ignored},
		{"cannot fork, with failures listed", only, process.Result{Code: 125, StartErr: noStart, NoFork: true}, Matches{}, breaker.Ignored},
		{"output lost, exits 0", Rules{}, process.Result{OutputLost: full}, Matches{}, breaker.Failure},
		{"output lost, died of PIPE", Rules{}, process.Result{Code: 141, Signal: syscall.SIGPIPE, OutputLost: full}, Matches{}, breaker.Failure},
		{"output lost, an ignored code", lists, process.Result{Code: 4, OutputLost: full}, ignore, breaker.Failure},
		{"output lost when told to stop", Rules{}, process.Result{Code: 130, Interrupted: syscall.SIGINT, OutputLost: full}, Matches{}, breaker.Ignored},
		{"output lost, interrupts count", Rules{CountInterrupts: true}, process.Result{Interrupted: syscall.SIGINT, OutputLost: full}, Matches{}, breaker.Failure},
		{"cannot fork", Rules{}, process.Result{Code: 125, NoFork: true}, Matches{}, breaker.Ignored},
		{"killed", Rules{}, process.Result{Code: 137, Signal: syscall.SIGKILL}, Matches{}, breaker.Failure},
		{"died of TERM", Rules{}, process.Result{Code: 143, Signal: syscall.SIGTERM}, Matches{}, breaker.Ignored},
		{"died of PIPE", Rules{}, process.Result{Code: 141, Signal: syscall.SIGPIPE}, Matches{}, breaker.Ignored},
		{"died of QUIT", Rules{}, process.Result{Code: 131, Signal: syscall.SIGQUIT}, Matches{}, breaker.Failure},
		{"a shell's 143", Rules{}, process.Result{Code: 143}, Matches{}, breaker.Failure},
		{"told to stop", Rules{}, process.Result{Code: 1, Interrupted: syscall.SIGQUIT}, Matches{}, breaker.Ignored},
		{"told to stop, exits 0", Rules{}, process.Result{Interrupted: syscall.SIGINT}, Matches{}, breaker.Ignored},
		{"interrupts count", Rules{CountInterrupts: true}, process.Result{Code: 143, Signal: syscall.SIGTERM, Interrupted: syscall.SIGTERM}, Matches{}, breaker.Failure},
		{"slow when told to stop", lists, process.Result{Took: 2 * time.Second, Interrupted: syscall.SIGINT}, Matches{}, breaker.Slow},
		{"slow when it died of TERM", lists, process.Result{Code: 143, Took: 2 * time.Second, Signal: syscall.SIGTERM}, Matches{}, breaker.Slow},
		{"slow when it died of PIPE", lists, process.Result{Code: 141, Took: 2 * time.Second, Signal: syscall.SIGPIPE}, Matches{}, breaker.Slow},
		{"time limit", lists, process.Result{Code: 4, TimedOut: true}, ignore, breaker.Failure},
		{"time limit and told to stop", lists, process.Result{Code: 124, TimedOut: true, Interrupted: syscall.SIGINT}, Matches{}, breaker.Failure},
		{"slow success", lists, process.Result{Took: 2 * time.Second}, Matches{}, breaker.Slow},
		{"just not slow", lists, process.Result{Took: time.Second}, Matches{}, breaker.Success},
		{"slow ignored", lists, process.Result{Code: 4, Took: 2 * time.Second}, Matches{}, breaker.Ignored},
		{"slow failure", lists, process.Result{Code: 1, Took: 2 * time.Second}, Matches{}, breaker.Failure},
		{"output fails a success", Rules{}, process.Result{}, failure, breaker.Failure},
		{"output fails an ignored code", lists, process.Result{Code: 4}, failure, breaker.Failure},
		{"output excuses a failure", Rules{}, process.Result{Code: 22}, ignore, breaker.Ignored},
		{"output excuses no success", Rules{}, process.Result{}, ignore, breaker.Success},
		{"both", Rules{}, process.Result{}, both, breaker.Ignored},
		{"output when told to stop", Rules{}, process.Result{Interrupted: syscall.SIGINT}, failure, breaker.Ignored},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.rules.Outcome(test.end, test.found); got != test.want {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

func TestCodes(t *testing.T) {
	for _, text := range []string{"", ",", "x", "1,", "-1", "5-3", "1--2", "99999999999", "1-x", "0x1", "4294967296"} {
		var c Codes
		if err := c.Set(text); err == nil {
			t.Errorf("%q was taken as %v", text, c)
		}
	}
	past := strconv.Itoa(MaxCode() + 1)
	for _, text := range []string{past, "3-" + past} {
		var c Codes
		if err := c.Set(text); err == nil || !strings.Contains(err.Error(), "exit codes are 0 to") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if all := codes(t, "0-"+strconv.Itoa(MaxCode())); !all.Has(MaxCode()) {
		t.Error("the largest code is missing")
	}
	c := codes(t, " 1, 3 ,64-78")
	if err := c.Set("200"); err != nil || c.String() != "1,3,64-78,200" {
		t.Errorf("a second list made %q (%v)", c.String(), err)
	}
	if code, shared := codes(t, "1-5,9").Shared(codes(t, "7,5-6")); !shared || code != 5 {
		t.Errorf("shared %d %v, want 5", code, shared)
	}
	if _, shared := codes(t, "1-5").Shared(codes(t, "6-7")); shared {
		t.Error("neighbours share a code")
	}
}

func FuzzCodes(f *testing.F) {
	for _, seed := range []string{"1,3,64-78", "0", "5-3", "", "1-", "4294967295"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var c, again Codes
		if c.Set(text) != nil {
			return
		}
		if err := again.Set(c.String()); err != nil || again.String() != c.String() {
			t.Errorf("%q reads as %q, which reads as %q (%v)", text, c.String(), again.String(), err)
		}
	})
}

func rules(t *testing.T, failure, ignore string) Rules {
	t.Helper()
	var r Rules
	if failure != "" {
		if err := r.FailureOutput.Set(failure); err != nil {
			t.Fatal(err)
		}
	}
	if ignore != "" {
		if err := r.IgnoreOutput.Set(ignore); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// TestScannerIsBlindToChunks feeds the same text in many cuts.
func TestScannerIsBlindToChunks(t *testing.T) {
	long := strings.Repeat("x", 3*maxLine)
	texts := []struct {
		text string
		want Matches
	}{
		{"one\nHTTP 503\nthree\n", Matches{Failure: true}},
		{"one\r\nend\r\n", Matches{Ignore: true}},
		{"HTTP 5\n03", Matches{}},
		{"no newline HTTP 503", Matches{Failure: true}},
		{long + "HTTP 503" + long, Matches{Failure: true}},
		{long + "\nend\n" + long, Matches{Ignore: true}},
		{long + "the end\n", Matches{}},
		{"HTTP 599\nend", Matches{true, true}},
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i, test := range texts {
		for range 50 {
			s := rules(t, `HTTP 5\d\d`, `^end$`).NewScanner()
			for rest := []byte(test.text); len(rest) > 0; {
				n := 1 + random.IntN(min(len(rest), 1+random.IntN(70000)))
				if written, err := s.Write(rest[:n]); written != n || err != nil {
					t.Fatalf("wrote %d of %d: %v", written, n, err)
				}
				rest = rest[n:]
			}
			if got := s.Found(); got != test.want {
				t.Fatalf("text %d: found %+v, want %+v", i, got, test.want)
			}
		}
	}
}

func TestScannerMemoryIsBounded(t *testing.T) {
	s := rules(t, "never", "").NewScanner()
	chunk := bytes.Repeat([]byte("y"), 1<<20)
	for range 64 {
		_, _ = s.Write(chunk)
	}
	if cap(s.line) > 2*maxLine {
		t.Errorf("keeps %d bytes of one line", cap(s.line))
	}
}

func TestPatternErrors(t *testing.T) {
	for _, text := range []string{"", "(", "a{2,1}", `\C`, "(?<=x)y"} {
		var p Pattern
		if err := p.Set(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
