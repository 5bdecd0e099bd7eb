package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocs runs the blocks of the documentation that a shell, cron or make
// would run, with stand-ins for the programs they call. What cb says about
// its own misuse fails the test, and so does a command that is not there.
func TestDocs(t *testing.T) {
	fences := regexp.MustCompile("(?s)\n```(sh|crontab|make)\n(.*?)```")
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages (%v)", err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range fences.FindAllStringSubmatch(string(text), -1) {
			for _, script := range commands(block[1], block[2]) {
				first, _, _ := strings.Cut(script, "\n")
				t.Run(filepath.Base(page)+"/"+first, func(t *testing.T) { runDoc(t, script) })
			}
		}
	}
}

// commands returns what of a block can be run, as shell scripts.
func commands(kind, block string) []string {
	switch kind {
	case "crontab":
		var scripts []string
		for line := range strings.Lines(block) {
			fields := 5
			if strings.HasPrefix(line, "@") {
				fields = 1
			}
			scripts = append(scripts, strings.Join(strings.SplitN(strings.TrimSpace(line), " ", fields+1)[fields:], ""))
		}
		return scripts
	case "make":
		return []string{"cat >Makefile <<'END'\n" + block + "END\nmake"}
	}
	return []string{block}
}

func runDoc(t *testing.T, script string) {
	dir := t.TempDir()
	for _, name := range []string{"fetch-rates", "dump-db", "upload-dump", "deploy.sh", "build.sh", "fetch-page", "curl", "restic", "mail"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho '{}'\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, tool := range []string{"make", "jq"} {
		if _, err := exec.LookPath(tool); err != nil && regexp.MustCompile(`\b`+tool+`\b`).MatchString(script) {
			t.Skipf("%s is not installed", tool)
		}
	}
	c := exec.Command("sh", "-c", script)
	c.Dir = dir
	c.Env = []string{"HOME=" + dir, "PATH=" + dir + ":" + os.Getenv("PATH"), "TZ=UTC"}
	out, err := c.CombinedOutput()
	if err != nil || regexp.MustCompile(`(?m)^cb: (hint|warning|.*unknown)|not found`).Match(out) {
		t.Errorf("%v\n%s\n$ %s", err, out, script)
	}
}
