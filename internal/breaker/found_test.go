package breaker

import (
	"fmt"
	"testing"
	"time"
)

// misseen compares what those who only look are told with what an admission
// finds: the model asks it of every circuit that can be reached.
func misseen(c Circuit, p Policy, now time.Time) error {
	found := c.Found(now)
	due := found.Override.Kind == NoOverride && found.ProbeDue(now)
	after, permit, err := c.Admit(p, now, Caller{}, 1)
	if probes := permit.Probe != ""; due != probes {
		return fmt.Errorf("a probe is due: %v, and an admission gives one: %v", due, probes)
	}
	if err != nil && (found.Shown() != after.Shown() || !found.RetryAt.Equal(after.RetryAt) || found.Reason != after.Reason) {
		return fmt.Errorf("%s is seen as %s, retry %v", describe(after), found.Shown(), found.RetryAt)
	}
	if slot := found.SlotAt(now); found.State == HalfOpen && !due {
		if _, _, err := found.Admit(p, slot, Caller{}, 1); err != nil {
			return fmt.Errorf("no slot at %v: %w", slot, err)
		}
	}
	return nil
}

func TestFound(t *testing.T) {
	p := Default()
	at := func(d time.Duration) time.Time { return start().Add(d) }
	probing, permit, err := Circuit{}.Trip(Order{At: start()}).Admit(p, at(time.Hour), Caller{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if c := probing.Found(at(90 * time.Minute)); c.State != HalfOpen || c.ProbeDue(at(90*time.Minute)) || !c.SlotAt(at(90*time.Minute)).Equal(at(2*time.Hour)) {
		t.Errorf("a probe that runs: %s", describe(c))
	}
	if c := probing.Found(at(2 * time.Hour)); c.State != HalfOpen || !c.ProbeDue(at(2*time.Hour)) || len(c.Probes) != 1 {
		t.Errorf("a probe that is overdue: %s", describe(c))
	}
	lost := probing.Lose(permit.Probe)
	c := lost.Found(at(62 * time.Minute))
	if c.State != Open || !c.RetryAt.Equal(at(65*time.Minute)) || !c.Since.Equal(at(time.Hour)) || c.Reason != "probe lost" {
		t.Errorf("a probe that is lost: %s", describe(c))
	}
	if c.Generation != lost.Generation || c.Recorded != lost.Recorded || c.Totals != lost.Totals {
		t.Errorf("to look has counted: %s", describe(c))
	}
	if c := lost.Found(at(65 * time.Minute)); c.State != Open || !c.ProbeDue(at(65*time.Minute)) {
		t.Errorf("a probe that was lost a period ago: %s", describe(c))
	}
}
