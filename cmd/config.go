package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cb/internal/config"
	"cb/internal/place"
	"cb/internal/render"
)

func newConfig(env *Env) *cobra.Command {
	json := false
	c := &cobra.Command{
		Use:   "config [NAME]",
		Short: "Show what the runs of a circuit go by, and how to configure it",
		Long:  configText,
		Example: `  cb config deploy-api
  cb config deploy-api --json | jq -r '.settings[] | select(.from != "default") | .flag'`,
		GroupID:           groupLook,
		Args:              atMostOneName,
		ValidArgsFunction: once(env.completeConfigured),
		RunE: func(c *cobra.Command, args []string) error {
			return env.config(c, strings.Join(args, ""), json)
		},
	}
	c.Flags().BoolVar(&json, "json", false, "an object of the documented schema")
	return withTable(c, writeKeys)
}

// atMostOneName demands a valid name or none.
func atMostOneName(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return &usageError{err: fmt.Errorf("%s takes one name, not %d", c.Name(), len(args)), hint: "cb " + c.Use}
	}
	return checkNames(args)
}

func (env *Env) config(c *cobra.Command, name string, json bool) error {
	opts := newRunOptions()
	fs := newConfigurable(opts)
	for _, flag := range []string{storeLimitFlag, lockWaitFlag} {
		if given := c.Flags().Lookup(flag); given.Changed {
			_ = fs.Set(flag, given.Value.String()) // it was set before
		}
	}
	given, err := env.configure(fs, name)
	if err != nil {
		return err
	}
	file, err := env.configuration()
	if err != nil {
		return err
	}
	wrong := given.explain(opts.validateRules(fs))
	shown := render.Settings{File: file.Path, Exists: file.Found, Circuit: name, Circuits: circuitsOf(file)}
	fs.VisitAll(func(f *pflag.Flag) {
		if configurable(f.Name) {
			shown.Settings = append(shown.Settings, given.shown(f))
		}
	})
	env.showStorePlace(c.Flags(), &shown.Settings[0])
	if json {
		err = shown.WriteJSON(env.Stdout)
	} else if _, err = fmt.Fprintln(env.Stdout, render.Safe(about(shown))); err == nil {
		err = shown.Write(env.Stdout, env.style())
	}
	if err != nil {
		return err //nolint:wrapcheck // render says what it was doing
	}
	for _, near := range env.nearTwins() {
		env.warn(near)
	}
	return wrong
}

// about says where the settings were looked for.
func about(s render.Settings) string {
	switch {
	case s.File == "":
		return "no configuration: there is no home directory to look in"
	case !s.Exists:
		return "no configuration: there is no " + s.File
	case s.Circuit == "" && len(s.Circuits) == 0:
		return s.File
	case s.Circuit == "":
		return fmt.Sprintf("%s, with tables for %s", s.File, strings.Join(s.Circuits, ", "))
	case slices.Contains(s.Circuits, s.Circuit):
		return fmt.Sprintf("%s, with a table for %s", s.File, s.Circuit)
	}
	text := fmt.Sprintf("%s, without a table for %s", s.File, s.Circuit)
	if near := didYouMean(s.Circuit, s.Circuits); near != "" {
		text += "; " + near
	}
	return text
}

func circuitsOf(file config.File) []string {
	names := make([]string, len(file.Circuits))
	for i, table := range file.Circuits {
		names[i] = table.Circuit
	}
	return names
}

// shown returns the value of a flag, whose FlagSet the settings were applied
// to, for people.
func (s settings) shown(f *pflag.Flag) render.Setting {
	given := s[f.Name]
	shown := render.Setting{Flag: f.Name, From: "default", Short: "default"}
	switch given.level {
	case fromDefaults, fromCircuit:
		shown.From, shown.Source, shown.Short = "config", given.place, given.source
	case fromEnvironment:
		shown.From, shown.Source, shown.Short = "environment", given.place, given.source
	case fromFlag:
		shown.From, shown.Source, shown.Short = "flag", "--"+f.Name, "--"+f.Name
	case byDefault:
	}
	list, isList := f.Value.(*lines)
	switch text := f.Value.String(); {
	case isList:
		shown.List, shown.Values = true, slices.Clone(*list)
	case text != "":
		shown.Values = []string{text}
	}
	for i, value := range shown.Values {
		shown.Values[i] = withoutPassword(value)
	}
	return shown
}

// showStorePlace completes the setting of the store, which no flag is set to.
func (env *Env) showStorePlace(fs *pflag.FlagSet, shown *render.Setting) {
	path, source, err := env.storeSetting(fs, storeFlag)
	if path == "" && err == nil {
		path, _, err = place.State(env.getenv)
	}
	if err != nil {
		return
	}
	shown.Values = []string{publicPlace(path)}
	if source == "--"+storeFlag {
		*shown = render.Setting{Flag: storeFlag, Values: shown.Values, From: "flag", Source: source, Short: source}
	}
}

// withoutPassword hides the passwords of the URLs in a text.
func withoutPassword(text string) string {
	words := strings.Split(text, " ")
	for i, word := range words {
		words[i] = publicPlace(word)
	}
	return strings.Join(words, " ")
}

// nearTwins tells of variables that look like a twin and set nothing.
func (env *Env) nearTwins() (all []string) {
	for _, entry := range env.Environ {
		variable, _, _ := strings.Cut(entry, "=")
		_, isTwin := twinOf(variable)
		if isTwin || variable == configVariable || !strings.HasPrefix(variable, "CB_") {
			continue
		}
		for _, section := range sections() {
			for _, flag := range section.flags {
				if configurable(flag) && editDistance(variable, twin(flag)) <= 2 {
					all = append(all, fmt.Sprintf("%s sets nothing; did you mean %s?", variable, twin(flag)))
				}
			}
		}
	}
	return all
}

// completeConfigured offers the names of the store and of the configuration.
func (env *Env) completeConfigured(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	names, _ := env.completeNames(c, args, word)
	file, err := env.configuration()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, name := range circuitsOf(file) {
		if beginsWith(name, word) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
}
