package cmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// level is where a value comes from; a higher one wins.
type level int

const (
	byDefault level = iota
	fromDefaults
	fromCircuit
	fromEnvironment
	fromFlag
)

// setting is what a flag is set to, and where.
type setting struct {
	level  level
	values []string // one, or any number for a flag that may be repeated
	source string   // CB_THRESHOLD, config.toml:7; "" for a flag
	place  string   // the same, but with the whole path
}

// settings are the flags that were given a value, for one circuit: by its
// table in the configuration file or by that of the defaults, by the
// environment or, as soon as they were applied, by the command line.
type settings map[string]setting

// settings returns what the environment and the configuration file say for a
// circuit; for no circuit in particular when the name is "".
func (env *Env) settings(name string) (settings, error) {
	file, err := env.configuration()
	if err != nil {
		return nil, err
	}
	given := settings{}
	for _, s := range file.Settings {
		from := fromDefaults
		if s.Circuit != "" {
			from = fromCircuit
		}
		if (from == fromDefaults || s.Circuit == name) && from >= given[s.Key].level {
			given[s.Key] = setting{from, texts(s.Value), source(file, s.Line), fmt.Sprintf("%s:%d", file.Path, s.Line)}
		}
	}
	for _, entry := range env.Environ {
		variable, value, _ := strings.Cut(entry, "=")
		flag, ok := twinOf(variable)
		if ok && value != "" && given[flag].level < fromEnvironment {
			given[flag] = setting{fromEnvironment, []string{value}, variable, variable}
		}
	}
	return given, nil
}

// configure sets the flags of a command, for a circuit, that the command line
// leaves to the environment and the configuration.
func (env *Env) configure(fs *pflag.FlagSet, name string) (settings, error) {
	given, err := env.settings(name)
	if err != nil {
		return nil, err
	}
	return given, given.apply(fs)
}

// apply sets every flag that was not given on the command line, and so gives
// the precedence flag, environment, configuration, default. A command ignores
// what is set for flags that it does not have.
func (s settings) apply(fs *pflag.FlagSet) error {
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Changed && f.Name != storeFlag {
			s[f.Name] = setting{level: fromFlag}
		}
	})
	s.displace()
	var wrong error
	fs.VisitAll(func(f *pflag.Flag) {
		given := s[f.Name]
		if given.level == fromFlag || f.Name == storeFlag {
			return // the store is found by openStore, for all commands
		}
		for _, value := range given.values {
			if err := fs.Set(f.Name, value); err != nil && wrong == nil {
				wrong = &usageError{err: fmt.Errorf("%s: %w", given.place, cause(err))}
			}
		}
	})
	return wrong
}

// displace drops what a higher level contradicts by a rule that cannot stand
// beside it: who says --window does not mean the --failure-ttl of the
// defaults.
func (s settings) displace() {
	for _, rule := range [][]string{
		{"window", "failure-ttl"},
		{"failure-ttl", "window", "failure-rate", "min-calls"},
		{"failure-rate", "threshold"},
	} {
		for _, weaker := range rule[1:] {
			if s[weaker].level < s[rule[0]].level {
				delete(s, weaker)
			}
		}
	}
}

// explain adds to the flags that an error names where their values come from,
// when that is not the command line.
func (s settings) explain(err error) error {
	var wrong *usageError
	if !errors.As(err, &wrong) {
		return err
	}
	words := strings.Split(wrong.Error(), " ")
	for i, word := range words {
		name, isFlag := strings.CutPrefix(strings.TrimRight(word, ",;:"), "--")
		if given := s[name]; isFlag && given.source != "" {
			after := i
			if word == "--"+name && i+1 < len(words) && words[i+1] != "" && '0' <= words[i+1][0] && words[i+1][0] <= '9' {
				after++ // --window 10
			}
			text := strings.TrimRight(words[after], ",;:")
			words[after] = fmt.Sprintf("%s (%s)%s", text, given.source, words[after][len(text):])
		}
	}
	return &usageError{err: errors.New(strings.Join(words, " ")), hint: wrong.hint}
}

// twin returns the environment variable of a flag.
func twin(flag string) string {
	return "CB_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// twinOf returns the flag that an environment variable sets.
func twinOf(variable string) (flag string, ok bool) {
	suffix, ok := strings.CutPrefix(variable, "CB_")
	if !ok {
		return "", false
	}
	flag = strings.ReplaceAll(strings.ToLower(suffix), "_", "-")
	return flag, twin(flag) == variable && configurable(flag)
}

// configurable reports whether a flag has a twin and a key.
func configurable(flag string) bool {
	for _, section := range sections() {
		for _, known := range section.flags {
			if known == flag {
				return whyNot(flag) == ""
			}
		}
	}
	return false
}

// whyNot says why a flag has neither a twin nor a key, or "".
func whyNot(flag string) string {
	switch flag {
	case "name":
		return "names belong to the command line, so that no call inherits its target"
	case "shell":
		return "the command belongs to the command line"
	case "result-file":
		return "each run has a result file of its own"
	case "help":
		return "it sets nothing"
	}
	return ""
}
