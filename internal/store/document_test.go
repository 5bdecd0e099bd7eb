package store

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
	"time"

	"cb/internal/breaker"
)

func TestTheLargestCircuitIsSmall(t *testing.T) {
	now := SystemClock()
	c := typical(now.Wall)
	for len(c.Calls) < breaker.MaxOutcomes {
		c.Calls = append(c.Calls, breaker.Call{At: now.Wall, Outcome: breaker.Success, Code: 255, Took: 123456789 * time.Microsecond})
	}
	for range 100 - len(c.History) {
		c.History = append(c.History, breaker.Transition{
			At: now.Wall, From: "half-open", To: "closed", Cause: breaker.ByLost,
			Reason: "1000 of the last 1000 runs failed", By: "somebody@somewhere.example.org", Generation: 1 << 52, Streak: 1000, Refused: math.MaxInt, Code: 255,
		})
	}
	data, err := encode(document{Name: "deploy", Clock: now, Circuit: c}, snapshot{})
	if err != nil || len(data) > 200<<10 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

func TestATooLargeCircuitIsNotWritten(t *testing.T) {
	c := breaker.Circuit{Reason: string(bytes.Repeat([]byte("x"), maxDocument))}
	if _, err := encode(document{Name: "deploy", Clock: SystemClock(), Circuit: c}, snapshot{}); err == nil {
		t.Error("encode succeeds")
	}
}

// FuzzDocument wants no panic, and of every document that is accepted, that it
// is written and read again as the same circuit with all its fields.
func FuzzDocument(f *testing.F) {
	for _, data := range damaged() {
		if len(data) < 10000 {
			f.Add([]byte(data))
		}
	}
	f.Add([]byte(`{"schema":1,"name":"deploy","x":{"y":[1,{"z":null}]},"totals":{"w":1},"Streak":1,"STREAK":2}`))
	f.Add([]byte(`{"schema":1,"name":"deploy","state":"half-open","recovery":{"probes":1,"needed":1,"answers":1,"q":0},"probes":[{"token":"a","n":1},{"token":"a"}]}`))
	f.Add([]byte(`{"schema":2,"name":"deploy"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		lenient, lenientErr := decode(data, "deploy")
		s, err := decodeToReplace(data, "deploy")
		if (err == nil) != (lenientErr == nil) {
			t.Fatalf("for replacing: %v, for reading: %v", err, lenientErr)
		}
		if err != nil {
			return
		}
		if !json.Valid(data) || !sameCircuit(s.circuit, lenient.circuit) {
			t.Fatalf("read as %+v and %+v", s.circuit, lenient.circuit)
		}
		again, err := encode(document{Name: "deploy", Clock: s.clock, Circuit: s.circuit}, s)
		if err != nil {
			t.Skip(err) // a year that JSON does not have
		}
		back, err := decodeToReplace(again, "deploy")
		if err != nil || !sameCircuit(back.circuit, s.circuit) {
			t.Fatalf("%s\nbecame\n%s\n%v", data, again, err)
		}
		if lost := missing(t, data, again); lost != "" {
			t.Fatalf("%s\nlost %s in\n%s", data, lost, again)
		}
	})
}

// missing returns a key at the top of a document that another lacks, if it is
// not one that is left out when it is zero.
func missing(t *testing.T, old, now []byte) string {
	t.Helper()
	var before, after map[string]any
	if json.Unmarshal(old, &before) != nil || json.Unmarshal(now, &after) != nil {
		t.Fatal("not an object")
	}
	for key := range before {
		if _, kept := lookup(after, key); !kept {
			return key
		}
	}
	return ""
}
