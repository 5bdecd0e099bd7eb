package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"cb/internal/breaker"
)

// damaged are documents that are none.
func damaged() map[string]string {
	whole, err := encode(document{Name: "deploy", Clock: SystemClock(), Circuit: typical(SystemClock().Wall)}, snapshot{})
	if err != nil {
		panic(err)
	}
	alter := func(old, new string) string { return strings.Replace(string(whole), old, new, 1) }
	return map[string]string{
		"empty":                   "",
		"white space":             " \n",
		"torn":                    string(whole[:len(whole)/2]),
		"without its last byte":   string(bytes.TrimSpace(whole)[:len(bytes.TrimSpace(whole))-1]),
		"NULs":                    strings.Repeat("\x00", len(whole)),
		"a tail of NULs":          string(whole) + "\x00\x00\x00",
		"a NUL page inside":       string(whole[:100]) + strings.Repeat("\x00", 100) + string(whole[200:]),
		"trailing garbage":        string(whole) + "}",
		"two documents":           string(whole) + string(whole),
		"null":                    "null",
		"an array":                "[" + string(whole) + "]",
		"a string":                `"closed"`,
		"a number":                "1",
		"an empty object":         "{}",
		"too large":               string(whole) + strings.Repeat(" ", maxDocument),
		"deep":                    strings.Repeat("[", 20000),
		"not JSON":                "state: closed\n",
		"a wrong type":            alter(`"streak": `, `"streak": "x", "was": `),
		"a fraction":              alter(`"streak": `, `"streak": 1.5, "was": `),
		"a huge number":           alter(`"streak": `, `"streak": 1e99, "was": `),
		"a negative count":        alter(`"refused": `, `"refused": -1, "was": `),
		"an unknown state":        alter(`"state": `, `"state": "ajar", "was": `),
		"a broken instant":        alter(`"wall": "2`, `"wall": "x`),
		"a broken call":           alter(` success `, ` maybe `),
		"an unknown override":     alter(`"state": `, `"override": {"kind":"lost","since":"2026-01-01T00:00:00Z"}, "state": `),
		"half-open by itself":     alter(`"state": "`, `"state": "half-open", "was": "`),
		"schema 0":                alter(`"schema": 1`, `"schema": 0`),
		"a schema that is none":   alter(`"schema": 1`, `"schema": "1"`),
		"another circuit":         alter(`"name": "deploy"`, `"name": "deploy2"`),
		"no name":                 alter(`"name": "deploy"`, `"names": "deploy"`),
		"a window without calls":  alter(`"fresh": `, `"fresh": 999, "was": `),
		"a generation out of all": alter(`"generation": `, `"generation": 99999999999999999, "was": `),
	}
}

func TestDamageIsSetAside(t *testing.T) {
	for name, data := range damaged() {
		t.Run(name, func(t *testing.T) {
			d := newDir(t)
			var warnings []string
			d.Warn = func(message string) { warnings = append(warnings, message) }
			update(t, d, "deploy", increment)
			path := filepath.Join(d.Path, "deploy.json")
			if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, found, err := d.Read("deploy"); found || !errors.Is(err, ErrCorrupt) {
				t.Errorf("Read: %v, %v", found, err)
			}
			update(t, d, "deploy", func(c breaker.Circuit, _ time.Time) (breaker.Circuit, error) {
				if !reflect.DeepEqual(c, breaker.Circuit{}) {
					t.Errorf("it starts as %+v", c)
				}
				c.Totals.Refused = 3
				return c, nil
			})
			if got := read(t, d, "deploy").Totals.Refused; got != 3 {
				t.Errorf("it is not used afterwards: %d", got)
			}
			wantAside(t, d, []byte(data))
			if len(warnings) != 1 || strings.Contains(warnings[0], "\n") || !strings.Contains(warnings[0], "deploy") {
				t.Errorf("warnings: %q", warnings)
			}
		})
	}
}

// wantAside wants the damaged documents that were kept, oldest first.
func wantAside(t *testing.T, d *Dir, want ...[]byte) {
	t.Helper()
	kept, err := filepath.Glob(filepath.Join(d.Path, "deploy.corrupt-*"))
	if err != nil || len(kept) != len(want) {
		t.Fatalf("kept %q, %v, want %d", kept, err, len(want))
	}
	for i, path := range kept {
		if data, err := os.ReadFile(path); err != nil || !bytes.Equal(data, want[i]) {
			t.Errorf("%s has %.40q, %v, want %.40q", path, data, err, want[i])
		}
	}
}

func TestTheLastThreeAreKept(t *testing.T) {
	d := newDir(t)
	d.Warn = nil
	update(t, d, "deploy2", increment)
	now := SystemClock()
	d.Clock = func() Reading { return now } // also when no time passes
	for i := range 6 {
		update(t, d, "deploy", increment)
		if err := os.WriteFile(filepath.Join(d.Path, "deploy.json"), []byte(strconv.Itoa(i)), 0o600); err != nil {
			t.Fatal(err)
		}
		update(t, d, "deploy", increment)
	}
	wantAside(t, d, []byte("3"), []byte("4"), []byte("5"))
	read(t, d, "deploy2")
}

// TestOnlyCopiesAreCounted sets documents aside beside files that look like
// copies: a circuit that is called so, and what people have put there.
func TestOnlyCopiesAreCounted(t *testing.T) {
	d := newDir(t)
	d.Warn = nil
	names := []string{"deploy.corrupt-1", "deploy.corrupt-2", "deploy.corrupt-20200101t000000.000000z"}
	for _, name := range names {
		update(t, d, name, increment)
	}
	theirs := []string{
		"deploy.corrupt-a", "deploy.corrupt-b/file", "deploy.corrupt-20200101T000000.000000Z/file", "deploy.corrupt-20200101T000000.000000Z.txt",
	}
	leave(t, d, 0, theirs...)
	for range 6 {
		update(t, d, "deploy", increment)
		if err := os.WriteFile(filepath.Join(d.Path, "deploy.json"), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		update(t, d, "deploy", increment)
	}
	for _, name := range names {
		if got := read(t, d, name).Totals.Successes; got != 1 {
			t.Errorf("%s has %d", name, got)
		}
		theirs = append(theirs, name+lockEnding)
	}
	for _, name := range theirs {
		if _, err := os.Stat(filepath.Join(d.Path, name)); err != nil {
			t.Error(err)
		}
	}
	copies := 0
	files, _ := os.ReadDir(d.Path)
	for _, file := range files {
		if _, ok := copiedAt("deploy", file.Name()); ok && file.Type().IsRegular() {
			copies++
		}
	}
	if copies != keptCorrupt {
		t.Errorf("%d copies are kept", copies)
	}
}

func TestDamageThatCannotBeSetAsideIsTrouble(t *testing.T) {
	d := newDir(t)
	update(t, d, "deploy", increment)
	path := filepath.Join(d.Path, "deploy.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	yes := func(breaker.Circuit, time.Time) bool { return true }
	if _, err := d.Remove(context.Background(), "deploy", yes); !errors.Is(err, ErrCorrupt) {
		t.Errorf("Remove: %v", err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "{" {
		t.Errorf("the document became %q, %v", data, err)
	}
}

func TestInstantsInTheFutureAreNoDamage(t *testing.T) {
	d := newDir(t)
	now := SystemClock()
	open := typical(now.Wall)
	open = open.Trip(breaker.Order{At: now.Wall, For: time.Hour, Seed: 1})
	update(t, d, "deploy", put(open))
	// A board without a clock starts in 1970.
	d.Clock = func() Reading { return Reading{Wall: time.Unix(100, 0).UTC()} }
	c, at, found, err := d.Read("deploy")
	if err != nil || !found || c.State != breaker.Open {
		t.Fatalf("Read: %v, %v, %v", c.State, found, err)
	}
	if c = c.At(at, 1); c.RetryAt.Sub(at) != time.Hour {
		t.Errorf("a probe is due in %v, want the period of an hour", c.RetryAt.Sub(at))
	}
	update(t, d, "deploy", increment)
}

// TestForeignJSONIsLeftAlone puts somebody else's JSON where circuits would be.
func TestForeignJSONIsLeftAlone(t *testing.T) {
	for _, text := range []string{`{"name":"package"}`, `{"$schema": "x", "compilerOptions": {}}` + "\n", ` {"a": {"schema": 1}}`} {
		d := newDir(t)
		update(t, d, "deploy", increment)
		path := filepath.Join(d.Path, "package.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, found, err := d.Read("package"); found || !errors.Is(err, ErrForeign) {
			t.Errorf("Read: %v, %v", found, err)
		}
		err := d.Update(context.Background(), "package", increment)
		if !errors.Is(err, ErrForeign) || !errors.Is(err, ErrUnread) || Cause(err) != "package.json is not a circuit of cb" {
			t.Errorf("Update: %v", err)
		}
		yes := func(breaker.Circuit, time.Time) bool { return true }
		if removed, err := d.Remove(context.Background(), "package", yes); removed || !errors.Is(err, ErrForeign) {
			t.Errorf("Remove: %v, %v", removed, err)
		}
		var names []string
		for entry, err := range d.List() {
			if err != nil {
				t.Error(err)
			}
			names = append(names, entry.Name)
		}
		if len(names) != 1 || names[0] != "deploy" {
			t.Errorf("List: %q", names)
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != text {
			t.Errorf("it became %q, %v", data, err)
		}
	}
}

// TestDamageIsToldInPlainWords wants no words of Go in what people read.
func TestDamageIsToldInPlainWords(t *testing.T) {
	for name, data := range damaged() {
		_, err := decode([]byte(data), "deploy")
		if name == "too large" {
			continue // the store looks at the size
		}
		if err == nil {
			t.Errorf("%s is read", name)
			continue
		}
		for _, word := range []string{"json:", "Go ", "strconv", "breaker.", "Circuit.", "parsing time", "unmarshal", "invalid character"} {
			if strings.Contains(err.Error(), word) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
