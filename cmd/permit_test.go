package cmd

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"cb/internal/breaker"
	"cb/internal/store"
)

// FuzzPermit wants that no word crashes what reads it, that one which is
// accepted can be written again, and that its outcome leaves a circuit valid.
func FuzzPermit(f *testing.F) {
	at := time.Date(2026, 3, 1, 14, 0, 0, 0, time.UTC)
	for _, p := range []permit{
		{Name: "api", Policy: breaker.Default(), At: at},
		{Name: "api", Policy: breaker.Default(), Permit: breaker.Permit{Generation: 7, Probe: "ab", Ticket: "cd"}, SlowAfter: time.Second, At: at},
		{Name: "Odd name", Policy: breaker.Default(), Permit: breaker.Permit{Through: true}, At: at, Void: true},
	} {
		text, err := json.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), true)
		f.Add(string(text[:len(text)-3]), true)
	}
	f.Add(store.PermitPrefix, false)
	f.Add("api", false)
	f.Fuzz(func(t *testing.T, word string, inside bool) {
		if inside {
			word = store.PermitPrefix + base64.RawURLEncoding.EncodeToString([]byte(word))
		}
		p, err := readPermit(word)
		if err != nil {
			return
		}
		again, err := p.word()
		if err != nil {
			t.Skip(err) // a year that JSON does not have
		}
		if back, err := readPermit(again); err != nil || !reflect.DeepEqual(back, p) {
			t.Fatalf("%+v became %+v (%v)", p, back, err)
		}
		if strings.ContainsFunc(again, func(r rune) bool { return r <= ' ' || r > '~' }) || store.CheckName(again) == nil {
			t.Fatalf("%q is not one printable word that no name can be", again)
		}
		for _, c := range []breaker.Circuit{{}, {Generation: p.Permit.Generation}} {
			c = c.Record(p.Policy, p.Permit, breaker.Call{At: at, Outcome: breaker.Failure}, 1)
			if err := c.Validate(); err != nil {
				t.Fatalf("%+v leaves %+v: %v", p, c, err)
			}
		}
	})
}
