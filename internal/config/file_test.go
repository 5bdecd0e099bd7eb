package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func parseText(text string) (File, error) {
	file := File{Path: "config.toml", Found: true}
	err := file.parse([]byte(text))
	return file, err
}

// The same settings, in all the ways in which TOML can write them.
func TestParseKnowsEveryNotation(t *testing.T) {
	for name, text := range map[string]string{
		"tables":        "[defaults]\nthreshold = 5\n[circuits.a]\ntimeout = \"5m\"\n",
		"dotted keys":   "defaults.threshold = 5\ncircuits.a.timeout = \"5m\"\n",
		"quoted keys":   "'defaults'.\"threshold\" = 5\n[circuits.\"\\u0061\"]\ntimeout = '5m'\n",
		"inline tables": "defaults = { threshold = 5 }\ncircuits = { a = { timeout = \"5m\" } }\n",
		"a mixture":     "defaults = { \"threshold\" = 5 }\n[circuits]\na.timeout = \"5m\"\n",
		"one inline":    "defaults.threshold = 0x5\n[circuits]\na = { timeout = '''5m''' }\n",
		"DOS":           "[defaults]\r\nthreshold = +5\r\n[circuits.a]\r\ntimeout = \"\"\"5m\"\"\"\r\n",
		"no newline":    "[defaults]\nthreshold = 5 # five\n[ circuits . a ]\ntimeout = \"5m\"",
	} {
		file, err := parseText(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i := range file.Settings {
			file.Settings[i].Line = 0
		}
		want := []Setting{
			{Key: "threshold", Value: Value{Kind: Integer, Text: "5"}},
			{Circuit: "a", Key: "timeout", Value: Value{Kind: String, Text: "5m"}},
		}
		if !reflect.DeepEqual(file.Settings, want) {
			t.Errorf("%s: %v", name, file.Settings)
		}
		if len(file.Circuits) != 1 || file.Circuits[0].Circuit != "a" {
			t.Errorf("%s: circuits %v", name, file.Circuits)
		}
	}
}

func TestParseValues(t *testing.T) {
	for text, want := range map[string]Value{
		`"a\tb"`:                {Kind: String, Text: "a\tb"},
		"1_000":                 {Kind: Integer, Text: "1000"},
		"0b11":                  {Kind: Integer, Text: "3"},
		"0o17":                  {Kind: Integer, Text: "15"},
		"0xfF":                  {Kind: Integer, Text: "255"},
		"-9223372036854775808":  {Kind: Integer, Text: "-9223372036854775808"},
		"1_0.5":                 {Kind: Float, Text: "10.5"},
		"-inf":                  {Kind: Float, Text: "-inf"},
		"true":                  {Kind: Boolean, Text: "true"},
		"1979-05-27T07:32:00Z":  {Kind: Date, Text: "1979-05-27T07:32:00Z"},
		"07:32:00":              {Kind: Date, Text: "07:32:00"},
		"{ a = 1, b = { } }":    {Kind: Dict},
		"[ 1, 'a', # c\n [2] ]": {Kind: Array, Items: []Value{{Kind: Integer, Text: "1"}, {Kind: String, Text: "a"}, {Kind: Array}}},
		"[]":                    {Kind: Array},
	} {
		file, err := parseText("\n[circuits.x]\nkey = " + text)
		if err != nil || len(file.Settings) != 1 {
			t.Errorf("%s: %v, %v", text, file.Settings, err)
			continue
		}
		want := Setting{Circuit: "x", Key: "key", Value: want, Line: 3}
		if !reflect.DeepEqual(file.Settings[0], want) {
			t.Errorf("%s: %v, want %v", text, file.Settings[0], want)
		}
	}
}

// What TOML forbids is not taken for a later word on the same matter.
func TestParseRefusesToDefineTwice(t *testing.T) {
	for text, line := range map[string]int{
		"[defaults]\na = 1\n[defaults]\n":                    3,
		"defaults.a = 1\ndefaults.'a' = 2\n":                 2,
		"defaults.a = 1\n[defaults]\n":                       2,
		"defaults = { a = 1, a = 2 }\n":                      1,
		"defaults = { a = 1 }\ndefaults.b = 2\n":             2,
		"circuits.x = { a = 1 }\n\ncircuits.x.b = 2\n":       3,
		"circuits = { x.a = 1, x = { b = 2 } }\n":            1,
		"circuits = { x = { b = 2 }, x.a = 1 }\n":            1,
		"circuits = { }\n[circuits.x]\n":                     2,
		"[circuits.x]\na = 1\n[circuits]\nx.b = 2\n":         4,
		"[circuits]\nx.b = 2\n[circuits.x]\na = 1\n":         3,
		"[circuits.x]\n[circuits]\n[circuits.x]\n":           3,
		"[circuits.x]\n[circuits]\nx = { }\n":                3,
		"[circuits]\n[circuits]\n":                           2,
		"circuits.x.a = 1\n[circuits.y]\n[circuits]\n":       3,
		"circuits.x.a = 1\ncircuits.x.b = 1\n[circuits.x]\n": 3,
	} {
		var wrong *Error
		if _, err := parseText(text); !errors.As(err, &wrong) || wrong.Line != line {
			t.Errorf("%q: %v, want an error in line %d", text, err, line)
		}
	}
	for _, text := range []string{
		"[circuits.x]\n[defaults]\n[circuits]\n[circuits.y]\n",
		"circuits.x.a = 1\n[circuits.y]\na = 1\n[defaults]\na = 1\n",
		"circuits.x.a = 1\ndefaults.a = 1\ncircuits.x.b = 1\n",
	} {
		if _, err := parseText(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Lines are counted over values of several lines and inside of tables.
func TestParseLines(t *testing.T) {
	file, err := parseText("[defaults]\na = '''\n\n'''\n\"b\" = [\n1,\n2 ]\n\n[circuits]\nx = { c = 1, d = 2 }\ny.e = 5\n")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, s := range file.Settings {
		got[s.Key] = s.Line
	}
	want := map[string]int{"a": 2, "b": 5, "c": 10, "d": 10, "e": 11}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("lines %v, want %v", got, want)
	}
	if want := []Table{{"x", 10}, {"y", 11}}; !reflect.DeepEqual(file.Circuits, want) {
		t.Errorf("tables %v, want %v", file.Circuits, want)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	marked := write("marked", "\ufeff[defaults]\nthreshold = 5\n")
	if file, err := Read(marked); err != nil || !file.Found || len(file.Settings) != 1 || file.Path != marked {
		t.Errorf("a file with a byte order mark: %v, %v", file, err)
	}
	for name, path := range map[string]string{
		"no path": "", "no file": filepath.Join(dir, "nosuch"), "a file on the way": filepath.Join(marked, "config.toml"),
	} {
		if file, err := Read(path); err != nil || file.Found || file.Path != path {
			t.Errorf("%s: %v, %v", name, file, err)
		}
	}
	largest := write("largest", "#"+strings.Repeat("-", MaxSize-1))
	if _, err := Read(largest); err != nil {
		t.Errorf("1 MiB: %v", err)
	}
	nowhere := filepath.Join(dir, "nowhere")
	if err := os.Symlink(filepath.Join(dir, "nosuch"), nowhere); err != nil {
		t.Skip(err)
	}
	for name, path := range map[string]string{
		"a link that leads nowhere": nowhere, "too large": write("large", "#"+strings.Repeat("-", MaxSize)), "a directory": dir,
	} {
		var wrong *Error
		if _, err := Read(path); !errors.As(err, &wrong) || wrong.Line != 0 || wrong.Path != path {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadWhatIsForbidden(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("nothing is forbidden here")
	}
	dir := filepath.Join(t.TempDir(), "cb")
	path := filepath.Join(dir, "config.toml")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0); err != nil {
		t.Fatal(err)
	}
	var wrong *Error
	if _, err := Read(path); !errors.As(err, &wrong) {
		t.Errorf("a file that may not be read: %v", err)
	}
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	if _, err := Read(path); !errors.Is(err, ErrHidden) {
		t.Errorf("a directory that may not be searched: %v", err)
	}
}
