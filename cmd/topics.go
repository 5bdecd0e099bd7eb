package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// newTopics returns the help topics: commands without a run.
func newTopics() []*cobra.Command {
	return []*cobra.Command{
		{
			GroupID: groupTopics, Use: "exit-codes", Short: "What the exit codes mean", Long: exitCodesText(),
			Example: "  cb help exit-codes",
		},
		{
			GroupID: groupTopics, Use: "states", Short: "How a circuit opens and recovers", Long: statesText,
			Example: "  cb help states",
		},
		withTable(&cobra.Command{
			GroupID: groupTopics, Use: "environment", Short: "The variables that cb reads and sets", Long: environmentText,
			Example: "  cb help environment",
		}, writeTwins),
	}
}

// newHelp is cobra's own command, but knows the topics and fails at what it
// does not know.
func newHelp() *cobra.Command {
	return &cobra.Command{
		GroupID: groupMore,
		Use:     "help [COMMAND|TOPIC]",
		Short:   "Explain a command or a topic",
		Long:    "Explain a command or a topic: all that cb knows of it.",
		Example: `  cb help run
  cb help states`,
		Args: cobra.ArbitraryArgs, // checked below, with a hint
		ValidArgsFunction: once(func(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
			var offered []string
			for _, sub := range c.Root().Commands() {
				if beginsWith(sub.Name(), word) && !sub.Hidden {
					offered = append(offered, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return offered, cobra.ShellCompDirectiveNoFileComp
		}),
		RunE: func(c *cobra.Command, args []string) error {
			about := c.Root()
			for _, arg := range args {
				sub, _, err := about.Find([]string{arg})
				if err != nil || sub == about {
					return unknownCommand(about, []string{arg})
				}
				about = sub
			}
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			return about.Help()
		},
	}
}

func exitCodesText() string {
	var text strings.Builder
	text.WriteString("Exit codes of cb run:\n\n")
	for _, row := range exitCodes() {
		fmt.Fprintf(&text, "  %-9s  %s\n", row[0], row[1])
	}
	text.WriteString(`
--open-exit-code changes the 75. A command that itself exits with 75 is told
apart by the line on stderr, and by "ran" in the file of --result-file.

cb check exits with 0 when a run would be permitted and with 75 when not;
cb status --exit-code with 0 when all circuits are closed and with 75 when not.`)
	return text.String()
}

const statesText = `A circuit is closed, open or half-open.

  closed     Runs are permitted. A failure that makes a trip rule true opens it:
             --threshold N            N failures in a row (a success starts anew)
             --window N --threshold K  K failures among the last N outcomes,
                                      once N are there (--min-calls M: once M are)
             --window D --threshold K  K failures within the last D
             --window .. --failure-rate P  P percent of the window, once N
                                      outcomes are there, or 10 of a duration
             --slow-after D           a longer run is a failure
  open       Runs are refused for --timeout, which --backoff multiplies each
             time a probe fails, up to --max-timeout.
  half-open  After the timeout the next run is a probe; others are refused while
             it runs. --successes M closes after M of them, the first failure
             opens again; --successes M/N closes when M of N succeed.

Above the state an operator can put an override: cb hold refuses every run until
cb enable or the end of its --for; cb disable permits every run and freezes the
circuit until cb enable. cb trip opens a circuit by hand, cb reset closes it.

A run is a success when it exits with 0, and a failure otherwise. A run that was
stopped (by INT, TERM, HUP or PIPE) counts neither way; --success-codes,
--ignore-codes and --failure-codes say what other codes mean.

--timeout is the circuit's open period. --time-limit is the command's own limit.`

const environmentText = `Every flag of cb run that tells how, not what, has a twin in the environment:
CB_THRESHOLD for --threshold, CB_TIME_LIMIT for --time-limit, and so on, as listed
below; there is none for --name, -c and --result-file. A flag wins over its twin,
and its twin over the configuration file (cb help config). A variable holds what
the flag would be given: 1, true, 0 or false for a switch, and 1 or 2 for -q or -qq.
An empty one counts as unset. CB_FALLBACK is one command; a chain needs the flag
or the file.

  CB_CONFIG         another configuration file; /dev/null for none
  XDG_CONFIG_HOME   where cb/config.toml is, when CB_CONFIG names none
  XDG_STATE_HOME    the state directory, when no store is named
  STATE_DIRECTORY   the same in a systemd unit, when HOME is not set
  NO_COLOR          no colours; CLICOLOR_FORCE=1 colours without a terminal

The command is given:

  CIRCUIT_NAME         the circuit's name
  CIRCUIT_STATE        closed or half-open
  CIRCUIT_PROBE        1 in a probe, else not set: a script may do a lighter job
  CIRCUIT_PROBE_TOKEN  the probes that it runs under: a cb run of the same name in
                       it is let through as part of its probe

A hook (--on-open, --on-close, --on-half-open) is given name and state too, and
of these all, to nothing where they do not apply:

  CIRCUIT_EVENT     open, close or half-open
  CIRCUIT_FROM      the state before
  CIRCUIT_TO        the state now, as CIRCUIT_STATE
  CIRCUIT_REASON    why, in a few words
  CIRCUIT_RETRY_AT  when an open circuit will let a probe through (RFC 3339)
  CIRCUIT_EXIT_CODE the exit code of the run that caused it
  CIRCUIT_STREAK    failures in a row that led to it
  CIRCUIT_SKIPPED   runs skipped since the circuit opened

The twins:`
