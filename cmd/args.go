package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"cb/internal/store"
)

// oneName demands exactly one valid name.
func oneName(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return &usageError{
			err:  fmt.Errorf("%s takes one name, not %d", c.Name(), len(args)),
			hint: "cb " + c.Use,
		}
	}
	return checkNames(args)
}

// noArgs demands that nothing is left over.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &usageError{err: fmt.Errorf("%s takes no names, but %q is given", c.Name(), args[0])}
	}
	return nil
}

func checkNames(names []string) error {
	for _, name := range names {
		if err := store.CheckName(name); err != nil {
			return &usageError{err: err}
		}
	}
	return nil
}
