package breaker

import (
	"encoding"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

func TestStateText(t *testing.T) {
	for state, word := range map[State]string{Closed: "closed", Open: "open", HalfOpen: "half-open"} {
		var again State
		checkText(t, state, &again, word)
		if again != state {
			t.Errorf("%q is read as %v", word, again)
		}
	}
	refuseText(t, new(State), "", "Closed", "closed ", "State(7)", "held", "0")
	if got := State(7).String(); got != "State(7)" {
		t.Errorf("an impossible state is called %q", got)
	}
}

func TestOutcomeText(t *testing.T) {
	for outcome, word := range map[Outcome]string{Success: "success", Failure: "failure", Slow: "slow", Ignored: "ignored"} {
		var again Outcome
		checkText(t, outcome, &again, word)
		if again != outcome {
			t.Errorf("%q is read as %v", word, again)
		}
		if failed := outcome == Failure || outcome == Slow; outcome.Failed() != failed {
			t.Errorf("%v has failed: %v", outcome, outcome.Failed())
		}
	}
	refuseText(t, new(Outcome), "", "Success", "failed", "Outcome(7)", "1")
	if got := Outcome(7).String(); got != "Outcome(7)" {
		t.Errorf("an impossible outcome is called %q", got)
	}
}

func TestCallText(t *testing.T) {
	at := time.Date(2026, 3, 1, 14, 0, 0, 123456000, time.UTC)
	for text, call := range map[string]Call{
		"2026-03-01T14:00:00.123456Z failure 7 1.5s":  {at, Failure, 7, 1500 * time.Millisecond},
		"2026-03-01T14:00:00.123456Z success 0 0s":    {at, Success, 0, 0},
		"2026-03-01T14:00:00.123456Z slow 0 1h0m0s":   {at, Slow, 0, time.Hour},
		"2026-03-01T14:00:00.123456Z ignored -1 1µs":  {at, Ignored, NoCode, time.Microsecond},
		"2026-03-01T14:00:00.123456789Z success 0 0s": {at.Add(789), Success, 0, 0},
		"1970-01-01T00:00:00Z failure 255 0s":         {time.Unix(0, 0).UTC(), Failure, 255, 0},
		"0001-01-01T00:00:00Z success 0 0s":           {},
	} {
		var again Call
		checkText(t, call, &again, text)
		if again != call {
			t.Errorf("%q is read as %+v", text, again)
		}
	}
	elsewhere, err := Call{At: at.In(time.FixedZone("", 3600))}.MarshalText()
	if err != nil || !strings.HasPrefix(string(elsewhere), "2026-03-01T14:00:00.123456Z ") {
		t.Errorf("in another time zone it is %q, %v", elsewhere, err)
	}
	refuseText(t, new(Call), "", "2026-03-01T14:00:00Z", "2026-03-01T14:00:00Z failure 7",
		"yesterday failure 7 1s", "2026-03-01T14:00:00Z failed 7 1s", "2026-03-01T14:00:00Z failure seven 1s",
		"2026-03-01T14:00:00Z failure 7 1", "2026-03-01T14:00:00Z failure 7 1s more", "2026-03-01T14:00:00Z  failure 7 1s")
}

func checkText(t *testing.T, value encoding.TextMarshaler, again encoding.TextUnmarshaler, want string) {
	t.Helper()
	got, err := value.MarshalText()
	if err != nil || string(got) != want {
		t.Errorf("%+v is written %q, %v; want %q", value, got, err, want)
	}
	if err := again.UnmarshalText([]byte(want)); err != nil {
		t.Errorf("read %q: %v", want, err)
	}
}

func refuseText(t *testing.T, value encoding.TextUnmarshaler, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err := value.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, value)
		}
	}
}

// TestValidate damages a good circuit in one way at a time.
func TestValidate(t *testing.T) {
	good := func() Circuit {
		w := newWorld(t)
		w.order(Circuit.Trip, time.Minute)
		w.now = w.now.Add(time.Minute)
		w.admit(Policy{Timeout: time.Minute, Successes: 2, Answers: 3}, Caller{})
		return w.c
	}
	if err := good().Validate(); err != nil {
		t.Fatalf("a good circuit: %v", err)
	}
	if err := (Circuit{}).Validate(); err != nil {
		t.Fatalf("the zero circuit: %v", err)
	}
	for what, damage := range map[string]func(c *Circuit){
		"streak":             func(c *Circuit) { c.Streak = -1 },
		"fresh":              func(c *Circuit) { c.Fresh = -1 },
		"reopens":            func(c *Circuit) { c.Reopens = -1 },
		"skipped":            func(c *Circuit) { c.Skipped = -1 },
		"recorded":           func(c *Circuit) { c.Recorded = -1 },
		"kept calls":         func(c *Circuit) { c.Keep.Calls = -1 },
		"successes":          func(c *Circuit) { c.Totals.Successes = -1 },
		"failures":           func(c *Circuit) { c.Totals.Failures = -1 },
		"ignored":            func(c *Circuit) { c.Totals.Ignored = -1 },
		"late":               func(c *Circuit) { c.Totals.Late = -1 },
		"lost":               func(c *Circuit) { c.Totals.Lost = -1 },
		"refused":            func(c *Circuit) { c.Totals.Refused = math.MinInt },
		"trips":              func(c *Circuit) { c.Totals.Trips = -1 },
		"period":             func(c *Circuit) { c.Period = -1 },
		"kept span":          func(c *Circuit) { c.Keep.Span = -1 },
		"fresh above calls":  func(c *Circuit) { c.Fresh = len(c.Calls) + 1 },
		"too many outcomes":  func(c *Circuit) { c.Calls = make([]Call, MaxOutcomes+1) },
		"too long a history": func(c *Circuit) { c.History = make([]Transition, maxHistory+1) },
		"too many tickets":   func(c *Circuit) { c.Used = make([]string, maxUsed+1) },
		"too many probes":    func(c *Circuit) { c.Probes = make([]Probe, MaxOutcomes+maxOverdue+1) },
		"generation":         func(c *Circuit) { c.Generation = 1 << 53 },
		"override":           func(c *Circuit) { c.Override.Kind = "closed" },
		"probes while open":  func(c *Circuit) { c.State = Open },
		"half-open of zero":  func(c *Circuit) { c.Recovery = Recovery{} },
		"no probes allowed":  func(c *Circuit) { c.Recovery.Probes = 0 },
		"nothing needed":     func(c *Circuit) { c.Recovery.Needed = 0 },
		"too few answers":    func(c *Circuit) { c.Recovery.Answers = 1 },
		"fewer successes":    func(c *Circuit) { c.Recovery.Successes = -1 },
		"fewer failures":     func(c *Circuit) { c.Recovery.Failures = -1 },
		"should be closed":   func(c *Circuit) { c.Recovery.Successes = 2 },
		"should be open":     func(c *Circuit) { c.Recovery.Failures = 2 },
	} {
		c := good()
		if damage(&c); c.Validate() == nil {
			t.Errorf("%s: a damaged circuit passes", what)
		}
	}
}

func TestBetween(t *testing.T) {
	c := Circuit{}
	var circuits []Circuit
	for i := range 150 {
		circuits = append(circuits, c)
		c = c.Trip(Order{At: start().Add(time.Duration(i)), Seed: uint64(i)})
	}
	for _, steps := range []int{0, 1, 2, 99, 100} {
		told := Between(circuits[len(circuits)-1-steps], circuits[len(circuits)-1])
		if len(told) != steps {
			t.Errorf("%d transitions are told as %d", steps, len(told))
		}
		if steps > 0 && (told[0].At.After(told[steps-1].At) || told[steps-1].Generation != circuits[len(circuits)-1].Generation) {
			t.Errorf("%d transitions are not told in their order, up to the last", steps)
		}
	}
	if told := Between(Circuit{}, c); len(told) != maxHistory {
		t.Errorf("%d of 150 transitions are known, want %d", len(told), maxHistory)
	}
	if told := Between(c, Circuit{}); told != nil {
		t.Errorf("a circuit that began anew tells %v", told)
	}
}

func TestRefusalText(t *testing.T) {
	for refusal, want := range map[Refusal]string{
		RefusedOpen: "open", RefusedHeld: "held", RefusedProbe: "half-open and its probe is taken",
	} {
		if got := (&OpenError{Refusal: refusal}).Error(); got != "circuit is "+want {
			t.Errorf("%d is told as %q", refusal, got)
		}
	}
}

// TestSkip counts refusals as so many admissions would.
func TestSkip(t *testing.T) {
	for _, command := range []func(Circuit, Order) Circuit{Circuit.Trip, Circuit.Hold} {
		refused := newWorld(t)
		refused.order(command, time.Hour)
		refused.admit(Policy{}, Caller{})
		before := describe(refused.c)
		skipped := refused.c.Skip(3)
		for range 3 {
			refused.admit(Policy{}, Caller{})
		}
		if got, want := describe(skipped), describe(refused.c); got != want || got == before {
			t.Errorf("3 refusals counted are\n%s\nbut 3 runs refused are\n%s", got, want)
		}
	}
}

func TestTotalsRuns(t *testing.T) {
	totals := Totals{Successes: 1, Failures: 10, Ignored: 100, Late: 1000, Lost: 10000, Refused: 1 << 20, Trips: 1 << 30}
	if got := totals.Runs(); got != 11111 {
		t.Errorf("%d runs", got)
	}
}

// TestGenerations checks that generations only grow, by more than a neighbour,
// and begin anew where JSON readers lose count.
func TestGenerations(t *testing.T) {
	c := Circuit{Generation: 1<<53 - 2}
	for seed := range uint64(10) {
		next := c.Trip(Order{At: start(), Seed: seed})
		if next.Generation == 0 || next.Generation >= 1<<53 || next.Generation == c.Generation {
			t.Errorf("generation %d follows %d", next.Generation, c.Generation)
		}
	}
	seen := map[string]bool{}
	for seed := range uint64(1000) {
		next := Circuit{}.Trip(Order{At: start(), Seed: seed})
		seen[fmt.Sprint(next.Generation)] = true
	}
	if len(seen) < 900 {
		t.Errorf("1000 circuits begin with %d different generations", len(seen))
	}
}
