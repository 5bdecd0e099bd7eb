package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"cb/internal/render"
)

func newHistory(env *Env) *cobra.Command {
	json := false
	c := &cobra.Command{
		Use:   "history NAME",
		Short: "Show the transitions of a circuit, newest last",
		Long: `Show the transitions of a circuit, newest last: what changed, who or what caused
it, how long it lasted and how many runs were skipped. The last 100 are kept.`,
		Example: `  cb history deploy-api
  cb history deploy-api --json | jq '.[-1]'`,
		GroupID:           groupLook,
		Args:              oneName,
		ValidArgsFunction: once(env.completeNames),
		RunE: func(c *cobra.Command, args []string) error {
			return env.history(c, args[0], json)
		},
	}
	c.Flags().BoolVar(&json, "json", false, "an array; docs/status-json.md tells its keys")
	return c
}

func (env *Env) history(c *cobra.Command, name string, json bool) error {
	circuits, err := env.openStore(c)
	if err != nil {
		return err
	}
	defer circuits.Close()
	view, err := env.view(circuits, name)
	switch {
	case err != nil:
		return err
	case json:
		err = render.HistoryJSON(env.Stdout, view)
	case len(view.Circuit.History) == 0:
		_, err = fmt.Fprintf(env.Stdout, "%s has always been closed\n", render.Safe(name))
	default:
		err = render.History(env.Stdout, view, env.style())
	}
	return err //nolint:wrapcheck // render says what it was doing
}
