package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"cb/internal/classify"
	"cb/internal/config"
	"cb/internal/place"
	"cb/internal/store"
)

// configVariable names a configuration file other than that of the user.
const configVariable = "CB_CONFIG"

// configuration returns the configuration file, which is read once. One with a
// mistake anywhere is not used: nothing may run without the protection that
// somebody wanted for it.
func (env *Env) configuration() (config.File, error) {
	if env.file != nil {
		return *env.file, nil
	}
	path, named := env.getenv(configVariable), true
	if path == "" {
		path, named = place.Config(env.getenv), false
	}
	file, err := config.Read(path)
	var wrong *config.Error
	switch {
	case errors.As(err, &wrong):
		return config.File{}, &usageError{err: wrong, hint: wrong.Hint}
	case named && errors.Is(err, config.ErrHidden):
		return config.File{}, &usageError{err: &config.Error{Path: path, Err: fs.ErrPermission}}
	case named && !file.Found:
		return config.File{}, &usageError{err: fmt.Errorf("%s: there is no file %s to read", configVariable, path)}
	case err != nil:
		env.warn(fmt.Sprintf("cannot look for %s (permission denied); going on without it", path))
	}
	if err := env.checkConfiguration(file); err != nil {
		return config.File{}, err
	}
	env.file = &file
	return file, nil
}

// checkConfiguration sets every value of a file once, for nobody.
func (env *Env) checkConfiguration(file config.File) error {
	if !file.Found {
		return nil
	}
	wrong := func(line int, err error, hint string) error {
		return &usageError{err: &config.Error{Path: file.Path, Line: line, Err: err}, hint: hint}
	}
	for _, table := range file.Circuits {
		if err := store.CheckName(table.Circuit); err != nil {
			return wrong(table.Line, err, "")
		}
	}
	flags := newConfigurable(newRunOptions())
	for _, s := range file.Settings {
		if err := checkKey(flags, s); err != nil {
			return wrong(s.Line, fmt.Errorf("%s: %w", s.Key, err), keyHint(flags, s.Key))
		}
		f := flags.Lookup(s.Key)
		if err := kindOf(f).check(s.Value); err != nil {
			return wrong(s.Line, fmt.Errorf("%s: %w", s.Key, err), "")
		}
		for _, text := range texts(s.Value) {
			if err := f.Value.Set(text); err != nil {
				return wrong(s.Line, fmt.Errorf("%s: %w", s.Key, err), "")
			}
		}
	}
	return nil
}

// newConfigurable returns the flags that have keys, and some that have none.
func newConfigurable(opts *runOptions) *pflag.FlagSet {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	addStoreFlags(fs)
	opts.addFlags(fs)
	return fs
}

// checkKey reports whether a key can stand where it does.
func checkKey(flags *pflag.FlagSet, s config.Setting) error {
	switch {
	case whyNot(s.Key) != "":
		return fmt.Errorf("cannot be configured: %s", whyNot(s.Key))
	case flags.Lookup(s.Key) == nil:
		return errors.New("unknown key")
	case s.Key == storeFlag && s.Circuit != "":
		return errors.New("belongs in [defaults]: all commands must find the same circuits")
	case isPlace(s.Key) && s.Value.Kind == config.String && !filepath.IsAbs(s.Value.Text) && !strings.Contains(s.Value.Text, "://"):
		return errors.New("must be an absolute path, as a run may start in any directory")
	}
	return nil
}

// isPlace reports whether a flag names a place.
func isPlace(flag string) bool { return flag == storeFlag || flag == "metrics-file" }

// keyHint names the key that was meant.
func keyHint(flags *pflag.FlagSet, key string) string {
	if flags.Lookup(key) != nil || whyNot(key) != "" {
		return ""
	}
	var known []string
	flags.VisitAll(func(f *pflag.Flag) {
		if configurable(f.Name) {
			known = append(known, f.Name)
		}
	})
	return orElse(didYouMean(key, known), "cb help config lists the keys")
}

// kind is what a flag can be set to in a file.
type kind struct {
	words string
	takes []config.Kind
	list  bool // also a list of these
}

// kindOf returns the kind of a flag. Texts must be strings, so that 503 is not
// taken for a command, but what is written in several ways on the command line
// may be written in several ways here.
func kindOf(f *pflag.Flag) kind {
	switch v := f.Value.(type) {
	case choice:
		return kind{words: strings.Join(v.words, " or "), takes: []config.Kind{config.String}}
	case count, *verbosity:
		return kind{words: "a whole number", takes: []config.Kind{config.Integer}}
	case factor:
		return kind{words: "a number", takes: []config.Kind{config.Integer, config.Float}}
	case *truth:
		return kind{words: "true or false", takes: []config.Kind{config.Boolean}}
	case *maxAge:
		return kind{words: "true, false or a string", takes: []config.Kind{config.Boolean, config.String}}
	case duration:
		return kind{words: `a string such as "90s"`, takes: []config.Kind{config.String}}
	case window, ratio, *size:
		return kind{words: "a whole number or a string", takes: []config.Kind{config.Integer, config.String}}
	case *classify.Codes:
		return kind{words: "a whole number, a string or a list of them", takes: []config.Kind{config.Integer, config.String}, list: true}
	case *lines:
		return kind{words: "a string or a list of strings", takes: []config.Kind{config.String}, list: true}
	}
	return kind{words: "a string", takes: []config.Kind{config.String}}
}

// check reports whether a value is of the kind.
func (k kind) check(v config.Value) error {
	if v.Kind == config.Array && k.list {
		for _, item := range v.Items {
			if !slices.Contains(k.takes, item.Kind) {
				return fmt.Errorf("must be %s, not a list with %s", k.words, described(item))
			}
		}
		return nil
	}
	if !slices.Contains(k.takes, v.Kind) {
		return fmt.Errorf("must be %s, not %s", k.words, described(v))
	}
	return nil
}

// described says what a value is.
func described(v config.Value) string {
	switch v.Kind {
	case config.String:
		return fmt.Sprintf("the string %q", v.Text)
	case config.Integer, config.Float:
		return "the number " + v.Text
	case config.Boolean:
		return v.Text
	case config.Date:
		return "the date " + v.Text
	case config.Array:
		return "a list"
	case config.Dict:
		return "a table"
	}
	return "that"
}

// texts returns a value as a command line would have it.
func texts(v config.Value) []string {
	if v.Kind != config.Array {
		return []string{v.Text}
	}
	values := make([]string, len(v.Items))
	for i, item := range v.Items {
		values[i] = item.Text
	}
	return values
}

// source names a line of a file in a message that has no room for its path.
func source(file config.File, line int) string {
	return fmt.Sprintf("%s:%d", filepath.Base(file.Path), line)
}
