package store

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPlainNamesAreTheirOwnFiles(t *testing.T) {
	for _, name := range []string{"deploy-api", "a", "0", "a.b_c-d", "com10", "console", "a.con", strings.Repeat("x", 100)} {
		if got := baseName(name); got != name {
			t.Errorf("baseName(%q) = %q", name, got)
		}
	}
	for name, slug := range map[string]string{
		"Deploy API":             "deploy-api~",
		"con":                    "con~",
		"nul.txt":                "nul-txt~",
		"com1.x":                 "com1-x~",
		"///":                    "circuit~",
		"日本":                     "circuit~",
		strings.Repeat("x", 101): strings.Repeat("x", 40) + "~",
	} {
		if got := baseName(name); !strings.HasPrefix(got, slug) || len(got) != len(slug)+16 {
			t.Errorf("baseName(%q) = %q, want %s…", name, got, slug)
		}
	}
}

// FuzzNames takes two names and wants two safe and different sets of files.
func FuzzNames(f *testing.F) {
	names := oddNames()
	for i, name := range names {
		f.Add(name, names[(i+1)%len(names)])
		f.Add(name, strings.ToUpper(name))
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		endings := []string{dataEnding, lockEnding, tempEnding, tempEnding + "-0123456789abcdef", probesEnding, outputEnding, refusedEnding, corruptEnding + corruptTime}
		all := map[string]string{}
		for _, name := range []string{a, b} {
			if CheckName(name) != nil {
				continue
			}
			base := baseName(name)
			if isPlain(base) == isHashed(base) || isPlain(base) != (base == name) {
				t.Fatalf("%q: it cannot be told how %q came about", name, base)
			}
			for _, ending := range endings {
				file := base + ending
				checkFile(t, file)
				if other, taken := all[file]; taken && other != name {
					t.Fatalf("%q and %q share %q", name, other, file)
				}
				all[file] = name
			}
		}
	})
}

// checkFile wants a name that every file system takes, and takes for the same.
func checkFile(t *testing.T, file string) {
	t.Helper()
	switch {
	case len(file) > 143,
		!utf8.ValidString(file),
		file != strings.ToLower(file),
		strings.Trim(file, "abcdefghijklmnopqrstuvwxyz0123456789._-~TZ") != "" && !strings.Contains(file, corruptEnding),
		strings.HasPrefix(file, "."), strings.HasPrefix(file, "-"), strings.HasPrefix(file, "~"),
		strings.HasSuffix(file, "."), strings.HasSuffix(file, " "),
		isReserved(file):
		if !strings.HasSuffix(file, corruptTime) {
			t.Fatalf("%q is not a safe file name", file)
		}
	}
}
