package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestListsFit fails when the source has changed where a mutant breaks it. It
// tries no mutant: .ci/mutants does that.
func TestListsFit(t *testing.T) {
	mutants, err := ReadLists(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if len(mutants) < 20 {
		t.Errorf("only %d mutants are listed", len(mutants))
	}
	for _, m := range mutants {
		if _, err := m.Apply(filepath.Join("..", "..")); err != nil {
			t.Errorf("mutant %s: %v", m.Name, err)
		}
	}
}

func TestReadList(t *testing.T) {
	const list = "Words.\ngo test -count=1 ./a\n\n" +
		"-- one --\nIt adds.\na/a.go\n-x - y\n+x + y\n" +
		"-- two --\nIt forgets two lines.\ngo test ./b\na/a.go\n-first\n-\tsecond\n"
	mutants, err := ReadList("l", []byte(list))
	if err != nil || len(mutants) != 2 {
		t.Fatalf("%+v, %v", mutants, err)
	}
	one, two := mutants[0], mutants[1]
	if one.Name != "l/one" || one.Meaning != "It adds." || one.File != "a/a.go" || one.Old != "x - y" || one.New != "x + y" ||
		!slices.Equal(one.Test, []string{"-count=1", "./a"}) {
		t.Errorf("one is %+v", one)
	}
	if two.Old != "first\n\tsecond" || two.New != "" || !slices.Equal(two.Test, []string{"./b"}) {
		t.Errorf("two is %+v", two)
	}
	for wrong, list := range map[string]string{
		"changes nothing":        "go test .\n-- a --\nm\nf.go\n-x\n+x\n",
		"what to test":           "-- a --\nm\nf.go\n-x\n+y\n",
		"there twice":            "go test .\n-- a --\nm\nf.go\n-x\n+y\n-- a --\nm\nf.go\n-x\n+y\n",
		"do not understand":      "go test .\n-- a --\nm\nf.go\nx\n",
		"do not understand the ": "go test .\n-- a --\nm\nf.go\n-x\n+y\n-z\n",
	} {
		if _, err := ReadList("l", []byte(list)); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%q: %v", list, err)
		}
	}
}

func TestVerdict(t *testing.T) {
	failed := &exec.ExitError{}
	for output, want := range map[string]string{
		"--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/b (0s)\n--- FAIL: TestC (0s)\nFAIL\n": "TestA TestC",
		"--- FAIL: TestA (0s)\npanic: index out of range\n":                                "TestA panic: index out of range",
	} {
		if got, err := verdict(output, failed); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v", output, got, err)
		}
	}
	if got, err := verdict("ok", nil); got != nil || err != nil {
		t.Errorf("a survivor: %q, %v", got, err)
	}
	for _, output := range []string{"FAIL\tcb/a [build failed]\n", "FAIL\n"} {
		if got, err := verdict(output, failed); err == nil {
			t.Errorf("%q: killed by %q", output, got)
		}
	}
	if _, err := verdict("", os.ErrNotExist); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without go: %v", err)
	}
}

// TestRun tries three mutants of a module of its own.
func TestRun(t *testing.T) {
	root := t.TempDir()
	for file, text := range map[string]string{
		"go.mod":    "module m\n\ngo 1.26\n",
		"m.go":      "package m\n\nfunc add(x, y int) int { return x + y } // and no more\n",
		"m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif add(1, 2) != 3 {\n\t\tt.Error(\"wrong\")\n\t}\n}\n",
		"testdata/mutants/m.txtar": "go test .\n" +
			"-- subtracts --\nIt subtracts.\nm.go\n-x + y\n+x - y\n" +
			"-- harmless --\nA comment says more.\nm.go\n-no more\n+more\n",
		"testdata/mutants/n.txtar": "go test .\n-- stale --\nIt is no longer there.\nm.go\n-x * y\n+x\n",
	} {
		file = filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ pattern, says, fails string }{
		{"m/subtracts", "killed   m/subtracts: It subtracts.\n         by TestAdd\nall 1 mutants are killed\n", ""},
		{"m", "SURVIVED m/harmless: A comment says more.\n", "1 of 2 mutants are not killed"},
		{"n/*", "UNTRIED  n/stale: its old text is found 0 times in m.go, not once: \"x * y\"\n", "1 of 1 mutants"},
		{"o", "", "no mutant matches"},
	} {
		var out strings.Builder
		err := run(&out, root, 2, "", []string{test.pattern})
		if !strings.HasSuffix(out.String(), test.says) || (err == nil) != (test.fails == "") || err != nil && !strings.Contains(err.Error(), test.fails) {
			t.Errorf("%s says %q, %v", test.pattern, out.String(), err)
		}
	}
}
