package cmd

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"cb/internal/config"
)

// TestReference compares the tables of docs/configuration.md with the flags;
// with UPDATE=1 it writes them.
func TestReference(t *testing.T) {
	const page, marker = "../docs/configuration.md", "go test ./cmd -run TestReference -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, tables, ok := strings.Cut(string(text), marker)
	if !ok {
		t.Fatalf("%s has no line %q", page, marker)
	}
	var want bytes.Buffer
	writeReference(&want)
	if tables == want.String() {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatalf("%s is stale; make it anew with UPDATE=1 go test ./cmd -run TestReference", page)
	}
	if err := os.WriteFile(page, []byte(head+marker+want.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// writeReference writes the table of docs/configuration.md.
func writeReference(w io.Writer) {
	last := ""
	settable(func(section string, f *pflag.Flag) {
		if section != last {
			fmt.Fprintf(w, "\n## %s\n\n| flag and key | twin | default | in the file | meaning |\n|---|---|---|---|---|\n", section)
			last = section
		}
		_, usage := pflag.UnquoteUsage(f)
		def := "none"
		if f.DefValue != "" {
			def = "`" + f.DefValue + "`"
		}
		cells := []string{"`" + f.Name + "`", "`" + twin(f.Name) + "`", def, kindOf(f).words, usage}
		for i, cell := range cells {
			cells[i] = strings.ReplaceAll(cell, "|", `\|`)
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	})
}

// Every configuration that is shown to people is one without mistakes.
func TestConfigurationsInDocs(t *testing.T) {
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := map[string]string{"help": strings.ReplaceAll("\n"+exampleConfig, "\n  ", "\n")}
	for _, page := range append(pages, "../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range regexp.MustCompile("(?s)\n```toml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			examples[page+"#"+string(rune('1'+i))] = block[1]
		}
	}
	if len(examples) < 2 {
		t.Error("the documentation shows none")
	}
	for name, text := range examples {
		path := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := config.Read(path)
		if err == nil {
			err = new(Env).checkConfiguration(file)
		}
		if err != nil || len(file.Settings) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every flag of run can be set elsewhere too, or there is a reason why not.
func TestEveryFlagIsConfigurable(t *testing.T) {
	env := &Env{Environ: []string{"CB_CONFIG=" + os.DevNull}}
	for _, section := range sections() {
		for _, flag := range section.flags {
			if configurable(flag) == (whyNot(flag) != "") {
				t.Errorf("--%s can be configured, and has a reason why not: %s", flag, whyNot(flag))
			}
			env.Environ = append(env.Environ, strings.ToLower(twin(flag))+"=x", twin(flag)+"=value of "+flag)
		}
	}
	env.Environ = append(env.Environ, "CB_JSON=x", "CB_Threshold=x", "CB_kill-after=x", "CB=x", "CB_")
	given, err := env.settings("")
	if err != nil {
		t.Fatal(err)
	}
	if given["json"].level != byDefault {
		t.Error("CB_JSON sets a flag that is not one of run's")
	}
	for _, section := range sections() {
		for _, flag := range section.flags {
			if configurable(flag) != (given[flag].level == fromEnvironment && given[flag].values[0] == "value of "+flag) {
				t.Errorf("--%s has the twin %s: %v", flag, twin(flag), given[flag])
			}
		}
	}
}

func TestWithoutPassword(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "",
		"/srv/cb":                                "/srv/cb",
		"redis://host:6379/0":                    "redis://host:6379/0",
		"redis://me@host":                        "redis://me@host",
		"redis://me:secret@host/0":               "redis://me:***@host/0",
		"redis://:secret@host":                   "redis://:***@host",
		"rediss://me:a@b:c@host?x=1":             "rediss://me:***@host?x=1",
		"curl http://a:b@c/ 'https://d:e@f' g@h": "curl http://a:***@c/ 'https://d:***@f' g@h",
	} {
		if got := withoutPassword(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
