package cmd

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"cb/internal/config"
	"cb/internal/place"
	"cb/internal/render"
)

// exitUnwell says that a check of doctor has failed.
const exitUnwell = 1

func newDoctor(env *Env) *cobra.Command {
	json := false
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check that cb can work here, and say what to do if not",
		Long: `Check what cb depends on: the configuration, where the circuits are and why, that
files can be written and locked there (tried with a file of its own, which is
removed), the circuits, the clock and the terminal; of a server, that it answers,
how fast, and who it is. No circuit is changed.

Each check is ok, warn (cb works, but not as well as it could) or fail, with what
to do. The exit code is 1 when a check fails, and 0 otherwise.`,
		Example: `  cb doctor
  cb doctor --store redis://redis.example.com
  cb doctor --json | jq -r '.checks[] | select(.level != "ok")'`,
		GroupID:           groupMore,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(c *cobra.Command, _ []string) error { return env.doctor(c, json) },
	}
	c.Flags().BoolVar(&json, "json", false, "an object of the documented schema")
	return c
}

func (env *Env) doctor(c *cobra.Command, json bool) error {
	d := &doctor{env: env, command: c}
	d.version()
	d.configuration()
	d.environment()
	d.store()
	d.terminal()
	var err error
	if json {
		err = d.found.WriteJSON(env.Stdout)
	} else {
		err = d.found.Write(env.Stdout, env.style())
	}
	if err == nil && d.found.Count(render.Failure) > 0 {
		return &exit{code: exitUnwell}
	}
	return err //nolint:wrapcheck // render says what it was doing
}

// doctor collects what it finds.
type doctor struct {
	env     *Env
	command *cobra.Command
	found   render.Findings
}

func (d *doctor) note(level render.Level, check, detail, hint string) {
	d.found = append(d.found, render.Finding{Check: check, Level: level, Detail: detail, Hint: hint})
}

// fail notes an error, with its own hint if it has one.
func (d *doctor) fail(check string, err error, hint string) {
	var wrong *usageError
	if errors.As(err, &wrong) && wrong.hint != "" {
		hint = wrong.hint
	}
	d.note(render.Failure, check, err.Error(), hint)
}

func (d *doctor) version() {
	d.note(render.Good, "version", fmt.Sprintf("cb %s, %s/%s, %s", d.env.Version, runtime.GOOS, runtime.GOARCH, runtime.Version()), "")
}

// configuration reads the file. What comes after it goes on without one that
// cannot be read.
func (d *doctor) configuration() {
	const check = "configuration"
	warned := len(d.env.warnings)
	file, err := d.env.configuration()
	switch {
	case err != nil:
		d.fail(check, err, "nothing runs until it is mended; CB_CONFIG="+os.DevNull+" goes on without it")
		d.env.file = &config.File{}
	case len(d.env.warnings) > warned:
		d.note(render.Warning, check, d.env.warnings[warned], "give this user leave to search the directory, or set CB_CONFIG")
	case file.Path == "":
		d.note(render.Good, check, "none: there is no home directory to look in", "")
	case !file.Found:
		d.note(render.Good, check, "none: there is no "+file.Path, "")
	default:
		d.note(render.Good, check, fmt.Sprintf("%s: settings: %d, tables of circuits: %d", file.Path, len(file.Settings), len(file.Circuits)), "")
	}
}

// environment checks the variables, and what they and the file say together.
func (d *doctor) environment() {
	const check = "environment"
	opts := newRunOptions()
	fs := newConfigurable(opts)
	given, err := d.env.configure(fs, "")
	if err == nil {
		err = given.explain(opts.validateRules(fs))
	}
	if err != nil {
		d.fail(check, err, "every cb run fails until this is mended; cb help environment")
		return
	}
	for _, near := range d.env.nearTwins() {
		d.note(render.Warning, check, near, "cb help environment lists the variables")
	}
	for _, name := range []string{"XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		if dir := d.env.getenv(name); dir != "" && !place.Usable(dir) {
			d.note(render.Warning, check, fmt.Sprintf("%s is %q and so ignored", name, dir), "set it to an absolute path that is yours alone")
		}
	}
	var set []string
	for _, entry := range d.env.Environ {
		variable, value, _ := strings.Cut(entry, "=")
		if _, ok := twinOf(variable); ok && value != "" || variable == configVariable {
			set = append(set, variable)
		}
	}
	d.note(render.Good, check, orElse(strings.Join(set, " "), "no variable of cb is set"), "")
}

// terminal tells what cb will do with its streams; nothing is wrong with any.
func (d *doctor) terminal() {
	var words []string
	for _, stream := range []struct {
		name string
		file *os.File
	}{{"stdin", d.env.Stdin}, {"stdout", d.env.Stdout}, {"stderr", d.env.Stderr}} {
		if term.IsTerminal(int(stream.file.Fd())) {
			words = append(words, stream.name)
		}
	}
	text := "no stream is one"
	if len(words) > 0 {
		text = strings.Join(words, ", ")
	}
	style := d.env.style()
	if style.Width > 0 {
		text += fmt.Sprintf("; %d columns", style.Width)
	}
	if style.Colour {
		text += "; colours"
	} else {
		text += "; no colours"
	}
	d.note(render.Good, "terminal", text, "")
}
