package cmd

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cb/internal/breaker"
)

// section is a group of flags in help, in the order in which they are shown.
type section struct {
	title string
	flags []string
}

// sections are the groups of the flags of run; other commands use some of them.
func sections() []section {
	return []section{
		{"Circuit", []string{"name", "store", "store-limit", "lock-wait", "on-store-error"}},
		{"Trip", []string{"threshold", "window", "failure-rate", "min-calls", "failure-ttl", "slow-after"}},
		{"Recover", []string{
			"timeout", "backoff", "max-timeout", "jitter", "probes", "successes", "probe-limit",
		}},
		{"Command", []string{
			"shell", "time-limit", "kill-after", "success-codes", "ignore-codes", "failure-codes", "count-interrupts",
			"failure-output", "ignore-output",
		}},
		{"Fallback", []string{"fallback", "fallback-cached", "fallback-text", "fallback-on", "fallback-cache-limit"}},
		{"Report", []string{
			"quiet", "open-exit-code", "result-file", "on-open", "on-close", "on-half-open", "hook-limit",
			"metrics-file",
		}},
	}
}

// addTripFlags binds the trip rules straight into a policy.
func addTripFlags(fs *pflag.FlagSet, p *breaker.Policy, slowAfter *time.Duration) {
	fs.Var(count{&p.Threshold, 1, breaker.MaxOutcomes}, "threshold", "failures that open: in a row, or within --window")
	fs.Var(window{p}, "window", "judge the last N outcomes, or those of the last D, instead of a row")
	fs.Var(count{&p.FailureRate, 1, 100}, "failure-rate", "percentage of failures in --window that opens")
	fs.Var(count{&p.MinCalls, 1, breaker.MaxOutcomes}, "min-calls", "outcomes that --window needs before it is judged")
	fs.Var(duration{&p.FailureTTL}, "failure-ttl", "a failure later than this after the last one starts a new row")
	fs.Var(duration{slowAfter}, "slow-after", "a run longer than this counts as a failure; its exit code passes through")
}

// addRecoverFlags binds the rules of recovery straight into a policy.
func addRecoverFlags(fs *pflag.FlagSet, p *breaker.Policy) {
	fs.Var(duration{&p.Timeout}, "timeout", "the circuit's open period: how long it stays open before a probe (not the command's limit)")
	fs.Var(factor{&p.Backoff}, "backoff", "multiply the timeout each time a probe fails; 1 is off")
	fs.Var(duration{&p.MaxTimeout}, "max-timeout", "cap of the backoff, never below --timeout")
	fs.Var(count{&p.Jitter, 0, 100}, "jitter", "vary each open period by up to N percent")
	fs.Var(count{&p.Probes, 1, breaker.MaxOutcomes}, "probes", "probes at the same time")
	fs.Var(ratio{p}, "successes", "successful probes that close, or M of N probes")
	fs.Var(duration{&p.ProbeLimit}, "probe-limit", "free a probe's slot after this long (default: time limit + kill grace + 30s, or 1h)")
}

// flagError turns what the flag package says into one line and a hint.
func flagError(c *cobra.Command, err error) error {
	wrong := &usageError{err: err, hint: fmt.Sprintf("%s --help lists the flags", c.CommandPath())}
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown):
		name := strings.TrimLeft(unknown.GetSpecifiedName(), "-")
		dashes := "--"
		if group := unknown.GetSpecifiedShortnames(); group != "" {
			name, dashes = group, "-"
		}
		wrong.err = fmt.Errorf("unknown flag %s%s", dashes, name)
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
		wrong.hint = orElse(didYouMean("--"+name, known), wrong.hint)
	case errors.As(err, &invalid):
		wrong.err = fmt.Errorf("--%s: %w", invalid.GetFlag().Name, plainly(invalid))
	case errors.As(err, &missing):
		name := "--" + missing.GetFlag().Name
		if missing.GetSpecifiedShortnames() != "" {
			name = "-" + missing.GetFlag().Shorthand
		}
		wrong.err = fmt.Errorf("%s: needs a value", name)
	}
	return wrong
}

// plainly returns why a value is none; of a switch in words for people.
func plainly(invalid *pflag.InvalidValueError) error {
	var number *strconv.NumError
	if err := invalid.Unwrap(); !errors.As(err, &number) {
		return err //nolint:wrapcheck // it says it all
	}
	return fmt.Errorf("must be true or false, not %q", invalid.GetValue())
}

// cause strips the flag package's own words from an error of Set.
func cause(err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return invalid.Unwrap()
	}
	return err
}

// usage writes the help of a command, its flags in sections.
func usage(c *cobra.Command) error {
	w := c.OutOrStderr()
	if c.Runnable() && c.HasParent() {
		fmt.Fprintf(w, "Usage:\n  %s\n", c.UseLine())
	} else {
		fmt.Fprintf(w, "Usage:\n  cb COMMAND [flags]\n")
	}
	if c.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", c.Example)
	}
	writeCommands(w, c)
	for _, group := range flagGroups(c) {
		fmt.Fprintf(w, "\n%s:\n%s", group.title, group.flags.FlagUsages())
	}
	return nil
}

// flagGroup are flags under a title in help.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

// flagGroups are the flags of a command as help shows them: those of run in
// sections, and the rest, if there is one.
func flagGroups(c *cobra.Command) []flagGroup {
	var groups []flagGroup
	rest := pflag.NewFlagSet("", pflag.ContinueOnError)
	rest.AddFlagSet(c.Flags())
	for _, section := range sections() {
		group := pflag.NewFlagSet("", pflag.ContinueOnError)
		group.SortFlags = false
		for _, name := range section.flags {
			if f := c.Flags().Lookup(name); f != nil && c.Name() == "run" {
				group.AddFlag(f)
			}
		}
		groups = append(groups, flagGroup{section.title, group})
		group.VisitAll(func(f *pflag.Flag) { rest = without(rest, f.Name) })
	}
	groups = append(groups, flagGroup{"Flags", rest})
	for i, group := range groups {
		groups[i].flags = shownFlags(group.flags)
	}
	return slices.DeleteFunc(groups, func(g flagGroup) bool { return !g.flags.HasAvailableFlags() })
}

// shownFlags returns flags as help shows them: a value that may be left out is
// written as it must be given, [=D], and not what stands for it.
func shownFlags(fs *pflag.FlagSet) *pflag.FlagSet {
	shown := pflag.NewFlagSet("", pflag.ContinueOnError)
	shown.SortFlags = fs.SortFlags
	fs.VisitAll(func(f *pflag.Flag) {
		kind := f.Value.Type()
		if f.NoOptDefVal != "" && kind != "bool" && kind != "count" {
			optional := *f
			optional.NoOptDefVal, optional.Usage = kind, f.Usage+"``"
			f = &optional
		}
		shown.AddFlag(f)
	})
	return shown
}

func writeCommands(w io.Writer, c *cobra.Command) {
	for _, group := range c.Groups() {
		fmt.Fprintf(w, "\n%s:\n", group.Title)
		for _, sub := range inOrder(c.Commands()) {
			listed := sub.IsAvailableCommand() || sub.Name() == "help" || isTopic(sub)
			if sub.GroupID == group.ID && listed {
				fmt.Fprintf(w, "  %-*s  %s\n", c.NamePadding(), sub.Name(), sub.Short)
			}
		}
		if group.ID == groupTopics { // a command that is a topic too
			fmt.Fprintf(w, "  %-*s  %s\n", c.NamePadding(), "config", "The configuration file and its keys")
		}
	}
}

// inOrder puts the commands that everybody uses before the others.
func inOrder(commands []*cobra.Command) []*cobra.Command {
	first := []string{"history", "status", "check", "run"}
	commands = slices.Clone(commands)
	slices.SortStableFunc(commands, func(a, b *cobra.Command) int {
		return slices.Index(first, b.Name()) - slices.Index(first, a.Name())
	})
	return commands
}

func without(fs *pflag.FlagSet, name string) *pflag.FlagSet {
	rest := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Name != name {
			rest.AddFlag(f)
		}
	})
	return rest
}

// isTopic reports whether a command is only a text to read.
func isTopic(c *cobra.Command) bool { return c.GroupID == groupTopics }

// help writes what a command is for, then its usage, to stdout.
func help(c *cobra.Command, _ []string) {
	fmt.Fprintf(c.OutOrStdout(), "%s\n", orElse(c.Long, c.Short))
	if isTopic(c) {
		return
	}
	fmt.Fprintln(c.OutOrStdout())
	_ = usage(c)
}

// addQuietFlag binds -q and -qq. The empty name in the usage is that of the
// number, which help does not show.
func addQuietFlag(fs *pflag.FlagSet, quiet *int, usage string) {
	fs.VarPF((*verbosity)(quiet), "quiet", "q", usage+"``").NoOptDefVal = "+1"
}
