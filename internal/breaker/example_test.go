package breaker_test

import (
	"errors"
	"fmt"
	"time"

	"cb/internal/breaker"
)

// A circuit is a value: each method returns the next one, and whoever owns it
// decides where to keep it.
func Example() {
	now := time.Date(2026, 3, 1, 14, 0, 0, 0, time.UTC)
	policy := breaker.Default()
	policy.Timeout = 30 * time.Second

	var circuit breaker.Circuit
	for seed := range uint64(3) {
		next, permit, err := circuit.Admit(policy, now, breaker.Caller{}, seed)
		if err != nil {
			fmt.Println(err)
			return
		}
		// Here the command runs, and fails.
		circuit = next.Record(policy, permit, breaker.Call{At: now, Outcome: breaker.Failure, Code: 7}, seed)
	}
	fmt.Println(circuit.State, "because of", circuit.Reason)

	circuit, _, err := circuit.Admit(policy, now.Add(3*time.Second), breaker.Caller{}, 4)
	var refused *breaker.OpenError
	if errors.As(err, &refused) {
		fmt.Println(refused, "for another", refused.In)
	}

	now = now.Add(policy.Timeout)
	circuit, probe, _ := circuit.Admit(policy, now, breaker.Caller{}, 5)
	fmt.Println(circuit.State)
	circuit = circuit.Record(policy, probe, breaker.Call{At: now, Outcome: breaker.Success}, 6)
	fmt.Println(circuit.State, "after", circuit.Totals.Trips, "trip and", circuit.Totals.Refused, "refusal")

	// Output:
	// open because of 3 failures in a row
	// circuit is open for another 27s
	// half-open
	// closed after 1 trip and 1 refusal
}

// What happened in a step is told by comparing the circuits around it.
func ExampleBetween() {
	now := time.Date(2026, 3, 1, 14, 0, 0, 0, time.UTC)
	before := breaker.Circuit{}.Trip(breaker.Order{At: now, By: "alice", Reason: "database migration", For: time.Minute})
	after, _, _ := before.Admit(breaker.Default(), now.Add(time.Minute), breaker.Caller{}, 1)
	for _, t := range breaker.Between(before, after) {
		fmt.Printf("%s to %s because of a %s\n", t.From, t.To, t.Cause)
	}
	// Output:
	// open to half-open because of a timeout
}

// All mistakes of a policy come at once, each with the flag to change.
func ExamplePolicy_Validate() {
	policy := breaker.Default()
	policy.FailureRate = 120
	policy.Probes = 5
	if err := policy.Validate(); err != nil {
		for _, mistake := range err.(breaker.Mistakes) {
			fmt.Println(mistake)
		}
	}
	// Output:
	// --failure-rate must be 0 to 100, not 120
	// --failure-rate needs --window
	// --probes 5 is more than the 1 answers that --successes needs
}
