package cmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The texts on settings are made from the flags themselves, so that none can
// be missing or stale, but only when somebody reads them.

// withTable adds a table that is made when it is asked for to a help topic, or
// to the text of a command, whose usage then follows.
func withTable(c *cobra.Command, write func(w io.Writer)) *cobra.Command {
	c.SetHelpFunc(func(c *cobra.Command, _ []string) {
		fmt.Fprintf(c.OutOrStdout(), "%s\n\n", c.Long)
		write(c.OutOrStdout())
		if !isTopic(c) {
			fmt.Fprintln(c.OutOrStdout())
			_ = usage(c)
		}
	})
	return c
}

// settable returns the flags that have a twin and a key, section by section.
func settable(each func(section string, f *pflag.Flag)) {
	flags := newConfigurable(newRunOptions())
	for _, section := range sections() {
		for _, name := range section.flags {
			if f := flags.Lookup(name); f != nil && configurable(name) {
				each(section.title, f)
			}
		}
	}
}

func writeTwins(w io.Writer) {
	settable(func(_ string, f *pflag.Flag) {
		_, usage := pflag.UnquoteUsage(f)
		if _, isList := f.Value.(*lines); isList {
			usage, _, _ = strings.Cut(usage, ";") // a variable cannot be repeated
		}
		fmt.Fprintf(w, "  %-23s  %s\n", twin(f.Name), usage)
	})
}

// exampleConfig is a configuration file as help shows it, indented.
const exampleConfig = `  [defaults]
  threshold = 5
  timeout = "2m"

  [circuits.deploy-api]
  timeout = "10m"
  ignore-codes = [3, "64-78"]
  on-open = "mail -s \"$CIRCUIT_NAME: $CIRCUIT_REASON\" ops@example.com </dev/null"

  [circuits."www.example.com"]
  failure-output = "HTTP/[0-9.]+ 5[0-9][0-9]"
  fallback = ["cat /srv/last.html", "echo down"]
`

const configText = `Show the value that each flag of cb run has for a circuit when the command line
does not say, and where it comes from. Without a name: for a circuit that has no
table. Passwords in URLs are not shown.

Precedence: flag, environment (CB_THRESHOLD for --threshold; cb help environment),
the circuit's table of the configuration file, its [defaults], the default. A list
replaces that of a lower level. A rule of a higher level displaces one that it
cannot stand beside: --window a failure-ttl, --failure-ttl a window, and
--failure-rate a threshold.

The file is config.toml in $XDG_CONFIG_HOME/cb or ~/.config/cb (on macOS
~/Library/Application Support/cb, on Windows %LOCALAPPDATA%\cb), or the one that
CB_CONFIG names; cb config tells where it looked. It is TOML, and its keys are the
names of flags:

` + exampleConfig + `
A name with a dot, a space or the like needs quotes. store and metrics-file must
be absolute, and store belongs in [defaults]. A mistake anywhere in the file is an
error of all commands that look at circuits, with file and line, and nothing runs:
no job must lose its protection unseen.

The keys and their values:`

func writeKeys(w io.Writer) {
	settable(func(_ string, f *pflag.Flag) {
		fmt.Fprintf(w, "  %-20s  %s\n", f.Name, kindOf(f).words)
	})
}
