package cmd

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// walk calls f with every command that cb itself defines.
func walk(t *testing.T, f func(t *testing.T, c *cobra.Command)) {
	t.Helper()
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		t.Run(strings.ReplaceAll(c.CommandPath(), " ", "_"), func(t *testing.T) { f(t, c) })
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(newRoot(&Env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}))
}

func TestEveryCommandExplainsItself(t *testing.T) {
	walk(t, func(t *testing.T, c *cobra.Command) {
		switch {
		case c.Short == "":
			t.Error("no Short")
		case strings.HasSuffix(c.Short, "."):
			t.Errorf("Short %q has a full stop", c.Short)
		case c.Long == "":
			t.Error("no Long")
		case c.Example == "":
			t.Error("no Example")
		}
		if !c.HasParent() || isTopic(c) {
			return
		}
		switch {
		case c.GroupID == "":
			t.Error("in no group")
		case c.Args == nil:
			t.Error("no Args: wrong arguments would pass")
		case c.ValidArgsFunction == nil && c.ValidArgs == nil:
			t.Error("no completion")
		}
		for line := range strings.SplitSeq(c.Long+"\n"+c.Example, "\n") {
			if len([]rune(line)) > 100 {
				t.Errorf("line of %d characters: %s", len(line), line)
			}
		}
	})
}

func TestFlags(t *testing.T) {
	inSections := map[string]bool{}
	for _, section := range sections() {
		for _, flag := range section.flags {
			if inSections[flag] {
				t.Errorf("--%s is in two sections", flag)
			}
			inSections[flag] = true
		}
	}
	walk(t, func(t *testing.T, c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" || strings.HasSuffix(f.Usage, ".") {
				t.Errorf("--%s: usage %q", f.Name, f.Usage)
			}
			// -name x would be -n ame: a shorthand with a value invites it.
			if f.Shorthand != "" && f.NoOptDefVal == "" && f.Shorthand != "c" {
				t.Errorf("--%s: shorthand -%s takes a value", f.Name, f.Shorthand)
			}
			if c.Name() == "run" && !inSections[f.Name] && f.Name != "help" {
				t.Errorf("--%s is in no section of the help", f.Name)
			}
		})
	})
}

// TestExitCodesTable compares the table of the README with the one in code.
func TestExitCodesTable(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range exitCodes() {
		if line := "| " + row[0] + " | " + row[1] + " |\n"; !strings.Contains(string(readme), line) {
			t.Errorf("README.md lacks the row %s", line)
		}
	}
}
