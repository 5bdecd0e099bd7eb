package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzConfiguration: what is accepted as a whole can be applied to each of its
// circuits, and no text makes cb panic.
func FuzzConfiguration(f *testing.F) {
	scripts, err := filepath.Glob("../testdata/script/config*.txtar")
	if err != nil || len(scripts) == 0 {
		f.Fatalf("no scripts (%v)", err)
	}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range strings.Split(string(text), "\n-- ")[1:] {
			_, body, _ := strings.Cut(file, " --\n")
			f.Add(body)
		}
	}
	path := filepath.Join(f.TempDir(), "config.toml")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		env := &Env{Environ: []string{configVariable + "=" + path}}
		file, err := env.configuration()
		if err != nil {
			if strings.ContainsRune(err.Error(), '\n') {
				t.Errorf("an error of several lines: %q", err)
			}
			return
		}
		for _, name := range append(circuitsOf(file), "") {
			opts := newRunOptions()
			fs := newConfigurable(opts)
			given, err := env.configure(fs, name)
			if err != nil {
				t.Errorf("accepted as a whole, but not for %q: %v", name, err)
			}
			_ = given.explain(opts.validateRules(fs))
		}
	})
}
