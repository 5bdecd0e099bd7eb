package main

import (
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// Who may import whom among the packages of this module. A package that is not
// named here may not exist.
func mayImport() map[string][]string {
	return map[string][]string{
		"cb":                    {"cb/cmd", "cb/internal/process", "cb/internal/redis", "cb/internal/store"}, // and tlsconn, by the tag tls
		"cb/cmd":                {"cb/internal/..."},
		"cb/internal/breaker":   {},
		"cb/internal/classify":  {"cb/internal/breaker", "cb/internal/process"},
		"cb/internal/config":    {},
		"cb/internal/gendocs":   {"cb/cmd"},
		"cb/internal/guard":     {"cb/internal/breaker"},
		"cb/internal/notify":    {"cb/internal/breaker", "cb/internal/process"},
		"cb/internal/mutants":   {},
		"cb/internal/place":     {},
		"cb/internal/process":   {"cb/internal/signals"},
		"cb/internal/redis":     {},
		"cb/internal/redistest": {"cb/internal/redis"},
		"cb/internal/render":    {"cb/internal/breaker"},
		"cb/internal/signals":   {},
		"cb/internal/tlsconn":   {"cb/internal/redis"},
		"cb/internal/store":     {"cb/internal/breaker", "cb/internal/redis"},
	}
}

func TestImportsFollowTheMap(t *testing.T) {
	for _, line := range golist(t, `{{.ImportPath}} {{join .Imports " "}}`, "./...") {
		words := strings.Fields(line)
		if strings.HasPrefix(words[0], "cb/bench") && len(imported(words)) == 0 {
			continue // programs to measure with
		}
		allowed, known := mayImport()[words[0]]
		if !known {
			t.Errorf("%s is a new package: say here what it may import", words[0])
		}
		for _, name := range imported(words) {
			if !slices.ContainsFunc(allowed, func(pattern string) bool { return matches(pattern, name) }) {
				t.Errorf("%s may not import %s", words[0], name)
			}
		}
	}
}

func TestCoreImportsNothingOfTheSystem(t *testing.T) {
	pure := strings.Fields("encoding errors fmt math slices strconv strings time")
	for _, line := range golist(t, `{{join .Imports "\n"}}`, "./internal/breaker") {
		if !slices.Contains(pure, line) {
			t.Errorf("the core imports %s: time and randomness are arguments, I/O is the shell's", line)
		}
	}
}

// Every cron run pays for what the program links. (cobra and pflag link text/template and net, whose cost at
// start-up is small as long as nobody calls them.)
func TestProgramLinksNothingDear(t *testing.T) {
	dear := strings.Fields("net/http crypto/tls crypto/x509 html/template log log/slog encoding/gob go/ast database/sql")
	for _, line := range golist(t, `{{.ImportPath}}`, "-deps", ".") {
		if slices.Contains(dear, line) {
			t.Errorf("the program links %s", line)
		}
	}
}

// imported returns the packages of this module among the imports of a line.
func imported(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words[1:]), func(name string) bool { return !strings.HasPrefix(name, "cb/") })
}

func golist(t *testing.T, format string, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-f", format}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' })
}

func matches(pattern, name string) bool {
	if parent, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path.Dir(name) == parent
	}
	return pattern == name
}
