package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocs runs the blocks of the documentation, with stand-ins for the programs
// they call. What cb says about its own misuse fails the test, and so does a
// command that is not there. A block that cannot be run says why in a comment
// before it; other tests look after transcripts, screens and configurations.
func TestDocs(t *testing.T) {
	fences := regexp.MustCompile("(?ms)^(<!-- not run: [^\n]+ -->\n)?```(\\w*)\n(.*?)^```$")
	for page, text := range pages(t) {
		for _, block := range fences.FindAllStringSubmatch(text, -1) {
			kind, block, notRun := block[2], block[3], block[1] != ""
			switch kind {
			case "console", "text", "toml":
			case "sh", "crontab", "make", "ini", "yaml", "dockerfile":
				for _, script := range commands(kind, block) {
					first, _, _ := strings.Cut(script, "\n")
					if !notRun {
						t.Run(filepath.Base(page)+"/"+first, func(t *testing.T) { runDoc(t, script) })
					}
				}
			case "":
				if regexp.MustCompile(`(?m)^(\$ |cb )`).MatchString(block) {
					t.Errorf("%s: a block of commands without a kind:\n%s", page, block)
				}
			default:
				t.Errorf("%s: a block of the kind %q, which nothing runs", page, kind)
			}
		}
	}
}

// TestLinks wants what the pages link to.
func TestLinks(t *testing.T) {
	for page, text := range pages(t) {
		for _, link := range regexp.MustCompile(`\]\(([^)#]+)`).FindAllStringSubmatch(text, -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), link[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

// TestIndex wants every page in the index.
func TestIndex(t *testing.T) {
	all := pages(t)
	for page := range all {
		if name := filepath.Base(page); name != "README.md" && !strings.Contains(all["docs/README.md"], "]("+name+")") {
			t.Errorf("docs/README.md does not name %s", name)
		}
	}
}

// pages returns the README and the pages of docs by their paths.
func pages(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("docs/*.md")
	if err != nil || len(names) == 0 {
		t.Fatalf("no pages (%v)", err)
	}
	all := map[string]string{}
	for _, name := range append(names, "README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.ToSlash(name)] = string(text)
	}
	return all
}

// commands returns what of a block can be run, as shell scripts.
func commands(kind, block string) []string {
	var scripts []string
	switch kind {
	case "crontab":
		for line := range strings.Lines(block) {
			fields := 5
			if strings.HasPrefix(line, "@") {
				fields = 1
			}
			scripts = append(scripts, strings.Join(strings.SplitN(strings.TrimSpace(line), " ", fields+1)[fields:], ""))
		}
	case "make":
		scripts = []string{"cat >Makefile <<'END'\n" + block + "END\nmake"}
	case "ini":
		for _, line := range regexp.MustCompile(`(?m)^Exec\w+=(.*)$`).FindAllStringSubmatch(block, -1) {
			scripts = append(scripts, line[1])
		}
	case "dockerfile":
		scripts = []string{strings.TrimPrefix(block, "HEALTHCHECK CMD ")}
	case "yaml":
		if script := jobScript(block); script != "" {
			scripts = []string{script}
		}
	default:
		scripts = []string{block}
	}
	return scripts
}

// jobScript returns what a CI job or a container would run: all steps, one
// after the other, each in a shell of its own that stops at the first error.
func jobScript(block string) string {
	var script strings.Builder
	step := func(lines string) {
		// What GitHub puts in; here every job succeeds.
		lines = strings.ReplaceAll(lines, "${{ steps.permit.outputs.word }}", `$(sed -n 's/^word=//p' "$GITHUB_OUTPUT")`)
		lines = regexp.MustCompile(`\$\{\{ job\.status .*?\}\}`).ReplaceAllString(lines, "success")
		lines = strings.NewReplacer("/state", "state", "/app/", "./").Replace(lines)
		script.WriteString("(set -e\n" + lines + "\n) || exit\n")
	}
	run := regexp.MustCompile(`^( *(?:- )?)run: (.*)$`)
	list := strings.Split(block, "\n")
	for i := 0; i < len(list); i++ {
		line := list[i]
		if found := run.FindStringSubmatch(line); found != nil {
			text := found[2]
			if text == "|" {
				text = ""
				for i+1 < len(list) && strings.HasPrefix(list[i+1], strings.Repeat(" ", len(found[1])+1)) {
					i++
					text += list[i] + "\n"
				}
			}
			step(text)
		} else if text, ok := strings.CutPrefix(strings.TrimSpace(line), "- cb "); ok { // GitLab's script
			step("cb " + text)
		} else if text, ok := strings.CutPrefix(strings.TrimSpace(line), "command: ["); ok { // of a container
			step(strings.ReplaceAll(strings.TrimSuffix(text, "]"), ", ", " "))
		}
	}
	return script.String()
}

func runDoc(t *testing.T, script string) {
	dir := t.TempDir()
	for _, name := range []string{"fetch-rates", "dump-db", "upload-dump", "deploy.sh", "build.sh", "fetch-page", "curl", "restic", "mail", "report", "health"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho '{}'\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, tool := range []string{"make", "jq"} {
		if regexp.MustCompile(`\b` + tool + `\b`).MatchString(script) {
			needs(t, tool)
		}
	}
	script = strings.ReplaceAll(script, "/app/", "./")
	c := exec.Command("sh", "-c", script)
	c.Dir = dir
	if strings.Contains(script, "go build") { // here, but the program goes there
		script = strings.ReplaceAll(script, "\ngo test ./...\n", "\n") // that is what runs this
		script = strings.NewReplacer(" -o cb", ` -o "$OUT"/cb`, "./cb ", `"$OUT"/cb `).Replace(script)
		c = exec.Command("sh", "-ec", script)
	}
	c.Env = []string{
		"HOME=" + dir, "PATH=" + dir + ":" + os.Getenv("PATH"), "TZ=UTC",
		"OUT=" + dir, "GOFLAGS=" + os.Getenv("GOFLAGS"), "GOCACHE=" + goenv(t, "GOCACHE"), "GOMODCACHE=" + goenv(t, "GOMODCACHE"),
		"GITHUB_OUTPUT=" + filepath.Join(dir, "output"), "CI_PROJECT_DIR=" + dir,
	}
	out, err := c.CombinedOutput()
	if err != nil || regexp.MustCompile(`(?m)^cb: (hint|warning|.*unknown)|not found`).Match(out) {
		t.Errorf("%v\n%s\n$ %s", err, out, script)
	}
}

func goenv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatalf("go env: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// required reports whether a tool that is missing makes a test fail instead of
// be skipped: CI names those in CB_TEST_REQUIRE.
func required(tool string) bool {
	for name := range strings.FieldsFuncSeq(os.Getenv("CB_TEST_REQUIRE"), func(r rune) bool { return r == ',' || r == ' ' }) {
		if name == tool {
			return true
		}
	}
	return false
}

func needs(t *testing.T, tool string) {
	t.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		if required(tool) {
			t.Fatalf("%s is not installed, but CB_TEST_REQUIRE names it", tool)
		}
		t.Skipf("%s is not installed", tool)
	}
}
