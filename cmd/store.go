package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cb/internal/breaker"
	"cb/internal/guard"
	"cb/internal/place"
	"cb/internal/store"
)

// circuitStore is the store of a run.
type circuitStore interface {
	guard.Store
	// SaveOutput keeps the output of the last successful run; Output returns
	// it with its age.
	SaveOutput(name string, output []byte) error
	Output(name string) (output []byte, age time.Duration, found bool, err error)
	io.Closer
}

// inventory is a store with all that it holds.
type inventory interface {
	circuitStore
	List() iter.Seq2[store.Entry, error]
	Names() ([]string, error)
	Remove(ctx context.Context, name string, idle func(c breaker.Circuit, now time.Time) bool) (bool, error)
	// Place says in messages where the store is.
	Place() string
}

// openStore returns the store that the flag, CB_STORE or the convention names.
func (env *Env) openStore(c *cobra.Command) (inventory, error) {
	return env.openStoreFor(c, false)
}

// openStoreFor is openStore for a run that may have to prove that its outcome
// can be recorded.
func (env *Env) openStoreFor(c *cobra.Command, prove bool) (inventory, error) {
	path, err := c.Flags().GetString("store")
	if err != nil {
		return nil, fmt.Errorf("read --store: %w", err)
	}
	source := "--store"
	if path == "" {
		path, source = env.getenv("CB_STORE"), "CB_STORE"
	}
	if scheme, _, ok := strings.Cut(path, "://"); ok {
		return nil, &usageError{
			err:  fmt.Errorf("%s: cannot use a %s:// store", source, scheme),
			hint: "name a directory",
		}
	}
	if path == "" {
		if path, err = place.State(env.getenv); err != nil {
			return nil, fmt.Errorf("locate the store: %w", err)
		}
	}
	return &store.Dir{Path: path, Clock: env.Clock, Prove: prove, Warn: env.warn}, nil
}

// guardedStore opens the store of a run. When none can be found that is
// trouble like any other: cb must not be the outage itself.
func (env *Env) guardedStore(c *cobra.Command, onStoreError string) (circuitStore, error) {
	circuits, err := env.openStoreFor(c, onStoreError == storeErrorRefuse)
	if err != nil && !isUsage(err) {
		return noStore{err}, nil
	}
	return circuits, err
}

// isUsage reports whether an error is the user's, as against the store's.
func isUsage(err error) bool {
	var usage *usageError
	return errors.As(err, &usage)
}

// noStore stands for a store that cannot be found.
type noStore struct{ err error }

func (s noStore) Update(context.Context, string, func(breaker.Circuit, time.Time) (breaker.Circuit, error)) error {
	return s.err
}

func (s noStore) Read(string) (breaker.Circuit, time.Time, bool, error) {
	return breaker.Circuit{}, time.Time{}, false, s.err
}

func (s noStore) SaveOutput(string, []byte) error { return s.err }

func (s noStore) Output(string) ([]byte, time.Duration, bool, error) { return nil, 0, false, s.err }

func (s noStore) Close() error { return nil }
