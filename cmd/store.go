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
	"github.com/spf13/pflag"

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
	List() iter.Seq2[store.Entry, error]
	io.Closer
}

// inventory is a store with all that it holds.
type inventory interface {
	circuitStore
	Names() ([]string, error)
	Remove(ctx context.Context, name string, idle func(c breaker.Circuit, now time.Time) bool) (bool, error)
	// Place says in messages where the store is.
	Place() string
}

// storeFlag is a flag of all commands. Unlike the others it is not set by
// settings.apply, but looked up where the store is opened.
const storeFlag = "store"

func addStoreFlag(fs *pflag.FlagSet) {
	fs.String(storeFlag, "", "where circuits live: a directory `URL` (default: the state directory)")
}

// openStore returns the store that the flag, CB_STORE, the configuration or
// the convention names.
func (env *Env) openStore(c *cobra.Command) (inventory, error) {
	return env.openStoreFor(c, false)
}

// openStoreFor is openStore for a run that may have to prove that its outcome
// can be recorded.
func (env *Env) openStoreFor(c *cobra.Command, prove bool) (inventory, error) {
	path, source, err := env.storePlace(c.Flags())
	if err != nil {
		return nil, err
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

// storePlace returns what names the store, and where that is said; "" when
// nothing does.
func (env *Env) storePlace(fs *pflag.FlagSet) (path, source string, err error) {
	if f := fs.Lookup(storeFlag); f.Changed && f.Value.String() != "" {
		return f.Value.String(), "--" + storeFlag, nil
	}
	given, err := env.settings("")
	if err != nil {
		return "", "", err
	}
	if s := given[storeFlag]; len(s.values) > 0 {
		return s.values[0], s.place, nil
	}
	return "", "", nil
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

func (s noStore) List() iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) { yield(store.Entry{}, s.err) }
}

func (s noStore) Close() error { return nil }
