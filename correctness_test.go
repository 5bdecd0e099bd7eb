package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCorrectnessNamesChecks wants each check that docs/correctness.md names to
// be there, so that no promise rests on a test that was renamed or removed.
func TestCorrectnessNamesChecks(t *testing.T) {
	page, err := os.ReadFile("docs/correctness.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(?:([a-z]+)\\.((?:Test|Fuzz)\\w+)|([\\w-]+\\.txtar))`").FindAllStringSubmatch(string(page), -1)
	if len(named) < 100 {
		t.Errorf("only %d checks are named", len(named))
	}
	code := map[string]string{}
	for _, one := range named {
		pkg, test, script := one[1], one[2], one[3]
		switch {
		case script != "":
			if _, err := os.Stat(filepath.Join("testdata", "script", script)); err != nil {
				t.Error(err)
			}
			continue
		case code[pkg] == "":
			code[pkg] = testsOf(t, pkg)
		}
		if !strings.Contains(code[pkg], "\nfunc "+test+"(") {
			t.Errorf("there is no %s.%s", pkg, test)
		}
	}
	for _, row := range strings.Split(string(page), "\n") {
		if cells := strings.Split(row, "|"); len(cells) == 4 && !strings.ContainsAny(cells[2], "`-") && cells[2] != " kept by " {
			t.Errorf("nothing keeps %q", cells[1])
		}
	}
}

// testsOf returns the tests of a package, on whatever system they run.
func testsOf(t *testing.T, pkg string) string {
	t.Helper()
	dir := filepath.Join("internal", pkg)
	switch pkg {
	case "main":
		dir = "."
	case "cmd":
		dir = pkg
	}
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests of %s (%v)", pkg, err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
