package cmd

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"cb/internal/breaker"
	"cb/internal/render"
	"cb/internal/store"
)

// statusOptions are the flags of status.
type statusOptions struct {
	json     bool
	exitCode bool
	states   []string
	watch    time.Duration // 0: look once
}

func newStatus(env *Env) *cobra.Command {
	opts := &statusOptions{}
	c := &cobra.Command{
		Use:   "status [NAME|GLOB...]",
		Short: "Show all circuits at a glance, or some, or one in full",
		Long: `Show all circuits at a glance, newest trouble first, or those that the names and
globs select. A single name shows that circuit in full. Nothing is changed.`,
		Example: `  cb status
  cb status deploy-api
  cb status 'backup-*' --state open,half-open
  cb status --watch
  cb status --json | jq -r '.[] | select(.state != "closed") | .name'`,
		GroupID:           groupLook,
		Args:              cobra.ArbitraryArgs, // names and globs
		ValidArgsFunction: env.completeNames,
		RunE: func(c *cobra.Command, args []string) error {
			return env.status(c, opts, args)
		},
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.BoolVar(&opts.json, "json", false, "an array of the documented schema")
	fs.StringSliceVar(&opts.states, "state", nil, "only circuits in these `STATES`: "+strings.Join(stateWords(), ","))
	fs.BoolVar(&opts.exitCode, "exit-code", false, "exit with 0 when all shown are closed, else 75")
	fs.Var(duration{&opts.watch}, "watch", "look again and again, every 2s or D; ^C ends it")
	fs.Lookup("watch").NoOptDefVal = "2s"
	completeChoices(c, "state", stateWords()...)
	return c
}

// stateWords are the words for what can hold.
func stateWords() []string {
	return []string{
		breaker.Closed.String(), breaker.Open.String(), breaker.HalfOpen.String(),
		string(breaker.Held), string(breaker.Disabled),
	}
}

func (env *Env) status(c *cobra.Command, opts *statusOptions, args []string) error {
	for _, state := range opts.states {
		if !slices.Contains(stateWords(), state) {
			return &usageError{
				err:  fmt.Errorf("--state: there is no state %q", state),
				hint: "the states are " + strings.Join(stateWords(), ", "),
			}
		}
	}
	if opts.watch == 0 {
		return env.showStatus(c, opts, args, env.Stdout)
	}
	if opts.json || opts.exitCode {
		return &usageError{err: fmt.Errorf("--watch goes with neither --json nor --exit-code")}
	}
	return env.watch(opts.watch, func(w io.Writer) error { return env.showStatus(c, opts, args, w) })
}

// showStatus writes the circuits once.
func (env *Env) showStatus(c *cobra.Command, opts *statusOptions, args []string, out io.Writer) error {
	views, place, err := env.views(c, args)
	if err != nil {
		return err
	}
	empty := len(views) == 0
	if len(opts.states) > 0 {
		views = slices.DeleteFunc(views, func(v render.View) bool { return !slices.Contains(opts.states, v.Circuit.Shown()) })
	}
	switch {
	case opts.json:
		err = render.StatusJSON(out, views)
	case empty:
		_, err = fmt.Fprintf(out, "no circuits yet in %s; cb run --name NAME -- COMMAND makes the first\n", render.Safe(place))
	case len(views) == 0:
		_, err = fmt.Fprintf(out, "no circuit is %s\n", strings.Join(opts.states, " or "))
	case len(args) == 1 && !isGlob(args[0]):
		err = render.StatusDetail(out, views[0], env.style())
	default:
		err = render.StatusTable(out, views, env.style())
	}
	if err == nil && opts.exitCode && slices.ContainsFunc(views, notClosed) {
		return &exit{code: exitRefused}
	}
	return err //nolint:wrapcheck // render says what it was doing
}

func notClosed(v render.View) bool { return v.Circuit.Shown() != breaker.Closed.String() }

// views reads the circuits that names and globs select; without any, all of
// them. It also returns where it looked.
func (env *Env) views(c *cobra.Command, args []string) ([]render.View, string, error) {
	circuits, err := env.openStore(c)
	if err != nil {
		return nil, "", err
	}
	var views []render.View
	if len(args) > 0 && !slices.ContainsFunc(args, isGlob) {
		for _, name := range args {
			view, err := env.view(circuits, name)
			if err != nil {
				return nil, "", err
			}
			views = append(views, view)
		}
		return views, circuits.Place(), nil
	}
	unused := slices.Clone(args)
	for entry, err := range circuits.List() {
		if err != nil && entry.Name == "" {
			return nil, "", fmt.Errorf("cannot read %s (%s)", circuits.Place(), store.Cause(err))
		}
		if err != nil {
			env.warn(fmt.Sprintf("cannot read %s (%s)", entry.Name, store.Cause(err)))
			continue
		}
		selects := func(arg string) bool { return matches(arg, entry.Name) }
		if len(args) == 0 || slices.ContainsFunc(args, selects) {
			views = append(views, render.View{Name: entry.Name, Circuit: entry.Circuit.At(entry.Now, 0), Now: entry.Now})
			unused = slices.DeleteFunc(unused, selects)
		}
	}
	if len(unused) > 0 {
		if isGlob(unused[0]) {
			return nil, "", &usageError{err: fmt.Errorf("no circuit matches %q", unused[0]), hint: "looked in " + circuits.Place()}
		}
		return nil, "", env.unknownCircuit(circuits, unused[0])
	}
	return views, circuits.Place(), nil
}

// view reads one circuit; a name that was never seen is an error.
func (env *Env) view(circuits inventory, name string) (render.View, error) {
	if err := store.CheckName(name); err != nil {
		return render.View{}, &usageError{err: err}
	}
	circuit, now, found, err := circuits.Read(name)
	if err != nil {
		return render.View{}, fmt.Errorf("cannot read %s (%s)", name, store.Cause(err))
	}
	if !found {
		return render.View{}, env.unknownCircuit(circuits, name)
	}
	return render.View{Name: name, Circuit: circuit.At(now, 0), Now: now}, nil
}

func isGlob(arg string) bool { return strings.ContainsAny(arg, "*?[") }

// matches reports whether a name is the argument, or matches it as a glob, in
// which * also spans slashes: names are not paths.
func matches(arg, name string) bool {
	flat := strings.NewReplacer("/", "\x00")
	ok, err := path.Match(flat.Replace(arg), flat.Replace(name))
	return arg == name || err == nil && ok
}

// style is what stdout can show: colours and a width on a terminal only.
func (env *Env) style() render.Style {
	fd := int(env.Stdout.Fd())
	if !term.IsTerminal(fd) {
		return render.Style{Colour: env.getenv("NO_COLOR") == "" && forced(env.getenv("CLICOLOR_FORCE"))}
	}
	style := render.Style{Colour: env.getenv("NO_COLOR") == "" && env.getenv("TERM") != "dumb"}
	if width, _, err := term.GetSize(fd); err == nil {
		style.Width = width
	}
	return style
}

func forced(value string) bool { return value != "" && value != "0" }

// unknownCircuit is the error for a name that the store does not hold.
func (env *Env) unknownCircuit(circuits inventory, name string) error {
	names, _ := circuits.Names()
	return &usageError{
		err:  fmt.Errorf("no circuit is called %q", name),
		hint: orElse(didYouMean(name, names), "looked in "+circuits.Place()),
	}
}
