package config

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// FuzzParse compares with a decoder that knows nothing of cb: what is read
// here must be TOML and say the same there, value for value.
func FuzzParse(f *testing.F) {
	scripts, err := filepath.Glob("../../testdata/script/config*.txtar")
	if err != nil || len(scripts) == 0 {
		f.Fatalf("no scripts (%v)", err)
	}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			f.Fatal(err)
		}
		for i, file := range strings.Split(string(text), "\n-- ") {
			if _, body, ok := strings.Cut(file, " --\n"); ok && i > 0 {
				f.Add(body)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := parseText(text)
		if err != nil {
			var wrong *Error
			if lines := 1 + strings.Count(text, "\n"); !errors.As(err, &wrong) || wrong.Line < 1 || wrong.Line > lines {
				t.Fatalf("%v of %d lines", err, lines)
			}
			return
		}
		var root map[string]any
		if err := toml.Unmarshal([]byte(text), &root); err != nil {
			for _, s := range file.Settings {
				if s.Value.Kind == Dict || s.Value.Kind == Date || s.Value.Kind == Array {
					return // their contents are not looked at, as nothing takes them
				}
			}
			if strings.Contains(err.Error(), "value out of range") {
				return // a float that no float64 is; the flag that takes it will say so
			}
			t.Fatalf("not TOML: %v", err)
		}
		compare(t, file, root)
	})
}

func compare(t *testing.T, file File, root map[string]any) {
	circuits, _ := root[circuits].(map[string]any)
	defaults, _ := root[defaults].(map[string]any)
	values := len(defaults)
	if len(circuits) != len(file.Circuits) {
		t.Errorf("%d circuits, want %d", len(file.Circuits), len(circuits))
	}
	for _, circuit := range circuits {
		values += len(circuit.(map[string]any))
	}
	if len(file.Settings) != values {
		t.Errorf("%d settings, want %d", len(file.Settings), values)
	}
	for _, s := range file.Settings {
		table := defaults
		if s.Circuit != "" {
			table = circuits[s.Circuit].(map[string]any)
		}
		if want, ok := table[s.Key]; !ok || !same(s.Value, want) {
			t.Errorf("%s of %q is %v, want %v", s.Key, s.Circuit, s.Value, want)
		}
	}
}

// same reports whether a value is the one that the decoder found.
func same(got Value, want any) bool {
	switch want := want.(type) {
	case string:
		return got.Kind == String && got.Text == want
	case int64:
		return got.Kind == Integer && got.Text == strconv.FormatInt(want, 10)
	case bool:
		return got.Kind == Boolean && got.Text == strconv.FormatBool(want)
	case float64:
		f, _ := strconv.ParseFloat(got.Text, 64)
		return got.Kind == Float && (f == want || math.IsNaN(f) && math.IsNaN(want))
	case map[string]any:
		return got.Kind == Dict
	case []any:
		if got.Kind != Array || len(got.Items) != len(want) {
			return false
		}
		for i := range want {
			if !same(got.Items[i], want[i]) && got.Items[i].Kind != Array {
				return false
			}
		}
		return true
	case fmt.Stringer: // a date
		return got.Kind == Date
	}
	return false
}
