package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cb/cmd"
)

// TestPage compares one small page; UPDATE=1 writes it.
func TestPage(t *testing.T) {
	const golden = "testdata/cb-check.1"
	all := cmd.Pages()
	i := slices.IndexFunc(all, func(p cmd.Page) bool { return p.Name == "cb check" })
	got := roff(all[i], "1.2.3")
	if os.Getenv("UPDATE") != "" {
		if err := write(golden, []byte(got)); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || got != string(want) {
		t.Errorf("%v; UPDATE=1 go test ./internal/gendocs accepts this:\n%s", err, got)
	}
}

// TestExitCodes wants the table that help and README have in the manual too.
func TestExitCodes(t *testing.T) {
	want := ".SH EXIT STATUS\n"
	for _, row := range cmd.ExitCodes() {
		want += ".TP\n.B " + escape(row[0]) + "\n" + escape(row[1]) + "\n"
	}
	for _, p := range cmd.Pages() {
		if has := strings.Contains(roff(p, ""), want); has != (p.Name == "cb" || p.Name == "cb run") {
			t.Errorf("%s has the exit codes: %t", p.Name, has)
		}
	}
}

// TestPagesAreUnderstood lets groff look for mistakes.
func TestPagesAreUnderstood(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil && slices.Contains(strings.Fields(os.Getenv("CB_TEST_REQUIRE")), "groff") {
		t.Fatal("groff is not installed")
	}
	if err != nil {
		t.Skip("groff is not installed")
	}
	for _, p := range cmd.Pages() {
		c := exec.Command(groff, "-man", "-ww", "-z", "-Tutf8")
		c.Stdin = strings.NewReader(roff(p, "1.2.3"))
		if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", p.Name, err, out)
		}
	}
}

// TestRelease wants every file in the packages.
func TestRelease(t *testing.T) {
	dir := t.TempDir()
	if err := generate(dir, "1.2.3"); err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(files) < 20 {
		t.Errorf("only %q, %v", files, err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Size() < 100 {
			t.Errorf("%s: %v", file, err)
		}
		name := filepath.ToSlash(strings.TrimPrefix(file, dir+string(filepath.Separator)))
		if filepath.Ext(name) != ".ps1" && !strings.Contains(string(config), name) {
			t.Errorf(".goreleaser.yaml does not name %s", name)
		}
	}
}

func TestEscape(t *testing.T) {
	got := escape(".a\n'b \\ --c ●\n d.")
	if want := "\\&.a\n\\&'b \\e \\-\\-c \\[u25CF]\n d."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
