package cmd

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cb/internal/breaker"
	"cb/internal/render"
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
		Long: `Show all circuits at a glance, or those that the names and globs select: first
those that are not closed, newest trouble first, then the others by name. A
single name shows that circuit in full. Nothing is changed.

SINCE is when an outage or an override began. STREAK is the failures in a row, or
failures/runs of the window. LAST shows the newest outcomes, newest last:
✓ success, ✗ failure, ◷ a run that was too slow.

Where the terminal is too narrow LAST is shortened, then columns are left out in
this order: RUNS, FAILED, SKIPPED, LAST, STREAK, SINCE, NEXT TRY; then long names
lose their middle.`,
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
	fs.BoolVar(&opts.json, "json", false, "an array; docs/status-json.md tells its keys")
	fs.StringSliceVar(&opts.states, "state", nil, "only circuits in these `STATES`: "+strings.Join(stateWords(), ","))
	fs.BoolVar(&opts.exitCode, "exit-code", false, "exit with 0 when all shown are closed, else 75; 125 when that cannot be told")
	fs.Var(duration{&opts.watch}, "watch", "look again and again, every 2s or D; q or ^C ends it")
	fs.Lookup("watch").NoOptDefVal = "2s"
	completeList(c, "state", stateWords()...)
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
	if len(opts.states) == 0 && c.Flags().Changed("state") {
		return &usageError{err: errors.New("--state: names no state"), hint: "the states are " + strings.Join(stateWords(), ", ")}
	}
	if opts.watch == 0 {
		return env.showStatus(c, opts, args, picture{env.Stdout, env.warn})
	}
	if opts.json || opts.exitCode {
		return &usageError{err: fmt.Errorf("--watch goes with neither --json nor --exit-code")}
	}
	err := env.watch(opts.watch, func(to picture) error { return env.showStatus(c, opts, args, to) })
	var wrong *usageError
	if len(args) > 0 && errors.As(err, &wrong) {
		if _, notName := breaker.ParseDuration(args[0]); notName == nil {
			wrong.hint = "the interval goes with an equals sign: --watch=" + args[0]
		}
	}
	return err
}

// picture is where circuits are shown.
type picture struct {
	out  io.Writer
	warn func(message string)
}

// showStatus writes the circuits once.
func (env *Env) showStatus(c *cobra.Command, opts *statusOptions, args []string, to picture) error {
	circuits, err := env.openStore(c)
	if err != nil {
		return err
	}
	defer circuits.Close()
	views, alone, err := env.views(circuits, args)
	if err != nil {
		return err
	}
	var rows []render.Row
	var last render.View
	list := render.NewArray(to.out)
	empty, healthy, unread := true, true, false
	for view, err := range views {
		if err != nil {
			to.warn(err.Error())
			empty, unread = false, true
			continue
		}
		empty = false
		shown := view.Circuit.Shown()
		if len(opts.states) > 0 && !slices.Contains(opts.states, shown) {
			continue
		}
		healthy = healthy && shown == breaker.Closed.String()
		rows, last = append(rows, view.Row()), view
		if !opts.json {
			continue
		}
		if err := list.Add(view); err != nil {
			return err //nolint:wrapcheck // render says what it was doing
		}
	}
	switch {
	case opts.json:
		err = list.End()
	case empty && len(args) > 0:
		_, err = fmt.Fprintf(to.out, "no circuit matches %s\n", render.Safe(strings.Join(args, " ")))
	case empty:
		_, err = fmt.Fprintf(to.out, "no circuits yet in %s; cb run --name NAME -- COMMAND makes the first\n", render.Safe(circuits.Place()))
	case len(rows) == 0 && unread:
	case len(rows) == 0:
		_, err = fmt.Fprintf(to.out, "no circuit is %s\n", strings.Join(opts.states, " or "))
	case alone:
		err = render.StatusDetail(to.out, last, env.style())
	default:
		err = render.StatusTable(to.out, rows, env.style())
	}
	switch {
	case err != nil || !opts.exitCode:
	case !healthy:
		return &exit{code: exitRefused}
	case unread:
		return &exit{code: exitTrouble} // nobody knows whether all are closed
	}
	return err //nolint:wrapcheck // render says what it was doing
}
