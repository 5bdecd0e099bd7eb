package notify

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cb/internal/breaker"
)

// TestHooksOfTransitions has a row for each transition that there is.
func TestHooksOfTransitions(t *testing.T) {
	hooks := Hooks{Open: "o", Close: "c", HalfOpen: "h"}
	words := []string{"closed", "open", "half-open", "held", "disabled"}
	want := map[string]string{
		"closed open": "open o", "open half-open": "half-open h", "open closed": "close c", "half-open closed": "close c",
	}
	for _, from := range words {
		for _, to := range words {
			event, line := hooks.of(breaker.Transition{From: from, To: to})
			if got := strings.TrimSpace(event + " " + line); got != want[from+" "+to] {
				t.Errorf("%s to %s: %q, want %q", from, to, got, want[from+" "+to])
			}
		}
	}
}

func TestHookVariables(t *testing.T) {
	now := time.Date(2026, 3, 1, 14, 0, 0, 0, time.UTC)
	order := breaker.Order{At: now, By: "alice", Reason: "outage", Seed: 1}
	fresh := breaker.Circuit{}
	tripped := fresh.Trip(order)
	refused, _, _ := tripped.Admit(breaker.Default(), now, breaker.Caller{}, 2)
	for _, row := range []struct {
		before, after breaker.Circuit
		want          []string
	}{
		{fresh, tripped, []string{
			"CIRCUIT_EVENT=open", "CIRCUIT_REASON=by hand by alice: outage", "CIRCUIT_EXIT_CODE=",
			"CIRCUIT_RETRY_AT=2026-03-01T14:05:00Z", "CIRCUIT_SKIPPED=0", "CIRCUIT_STREAK=0",
		}},
		{refused, refused.Reset(order), []string{
			"CIRCUIT_EVENT=close", "CIRCUIT_FROM=open", "CIRCUIT_TO=closed", "CIRCUIT_STATE=closed",
			"CIRCUIT_RETRY_AT=", "CIRCUIT_SKIPPED=1",
		}},
	} {
		made := breaker.Between(row.before, row.after)
		if len(made) != 1 {
			t.Fatalf("%d transitions", len(made))
		}
		event, _ := Hooks{}.of(made[0])
		got := Change{Name: "api", Before: row.before, After: row.after}.vars(made[0], event)
		for _, entry := range append(row.want, "CIRCUIT_NAME=api") {
			if !slices.Contains(got, entry) {
				t.Errorf("no %s among %q", entry, got)
			}
		}
	}
}

// TestHookThatCannotStart has an environment that no program can be given.
func TestHookThatCannotStart(t *testing.T) {
	var warned []string
	after := breaker.Circuit{}.Trip(breaker.Order{At: time.Unix(0, 0), Seed: 1})
	stopped := Hooks{Open: "true", Limit: time.Second}.Run(Change{
		Name: "api", After: after, Environ: []string{"A=\x00"},
		Warn: func(message string) { warned = append(warned, message) },
	})
	if len(warned) != 1 || !strings.HasPrefix(warned[0], "cannot start the on-open hook of api (") || stopped != 0 {
		t.Errorf("warned %q, stopped %v", warned, stopped)
	}
}
