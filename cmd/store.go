package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
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

// These flags are for all commands. They are looked up where the store is
// opened, and the first is not set by settings.apply.
const (
	storeFlag      = "store"
	storeLimitFlag = "store-limit"
	lockWaitFlag   = "lock-wait"
)

func addStoreFlags(fs *pflag.FlagSet) {
	fs.Var(line{new(string)}, storeFlag, "where circuits live: a directory, or the `URL` of a Redis or Valkey server (default: the state directory)")
	limit := 2 * time.Second
	fs.Var(duration{&limit}, storeLimitFlag, "how long a server may take to answer, connecting included")
	wait := store.DefaultLockWait
	fs.Var(duration{&wait}, lockWaitFlag, "how long to wait for a circuit of a directory that another run is changing")
}

// openStore returns the store that the flag, CB_STORE, the configuration or
// the convention names.
func (env *Env) openStore(c *cobra.Command) (inventory, error) {
	return env.openStoreFor(c, false)
}

// openStoreFor is openStore for a run that may have to prove that its outcome
// can be recorded.
func (env *Env) openStoreFor(c *cobra.Command, prove bool) (inventory, error) {
	path, source, err := env.storeSetting(c.Flags(), storeFlag)
	if err != nil {
		return nil, err
	}
	if scheme, _, ok := strings.Cut(path, "://"); ok {
		return env.openServer(c.Flags(), path, scheme, source, prove)
	}
	if path == "" {
		if path, _, err = place.State(env.getenv); err != nil {
			return nil, fmt.Errorf("locate the store: %w", err)
		}
	}
	circuits := &store.Dir{Path: path, Clock: env.Clock, Prove: prove, Warn: env.warn}
	if err := env.setDuration(c.Flags(), lockWaitFlag, &circuits.LockWait); err != nil {
		return nil, err
	}
	return circuits, nil
}

// setDuration sets what a store flag is for, unless nothing sets the flag.
func (env *Env) setDuration(fs *pflag.FlagSet, flag string, d *time.Duration) error {
	text, source, err := env.storeSetting(fs, flag)
	if err != nil || text == "" {
		return err
	}
	if err := (duration{d}).Set(text); err != nil {
		return &usageError{err: fmt.Errorf("%s: %w", source, err)}
	}
	return nil
}

// openServer returns the store at a URL, which no message may show: it may
// hold a password.
func (env *Env) openServer(fs *pflag.FlagSet, url, scheme, source string, prove bool) (inventory, error) {
	if !store.IsServer(scheme) {
		return nil, &usageError{
			err:  fmt.Errorf("%s: cannot use a %s:// store", source, scheme),
			hint: "name a directory, or a server as in redis://host:6379",
		}
	}
	circuits, err := store.OpenRedis(url, env.Secure)
	if err != nil {
		return nil, &usageError{err: fmt.Errorf("%s: %w", source, err)}
	}
	if circuits.Secured() && env.Secure == nil {
		return nil, env.becomeSecure(scheme)
	}
	if err := env.setDuration(fs, storeLimitFlag, &circuits.Limit); err != nil {
		return nil, err
	}
	circuits.Prove, circuits.Warn = prove, env.warn
	return circuits, nil
}

// secureProgram is cb with TLS linked in, which would cost every run of every
// other user.
const secureProgram = "cb-tls"

// becomeSecure replaces this process by the program that has TLS, with the same
// arguments. It is looked for beside this one and in PATH, and returns only
// when it is in neither.
func (env *Env) becomeSecure(scheme string) error {
	places := filepath.SplitList(env.getenv("PATH"))
	if self, err := env.Executable(); err == nil {
		places = append([]string{filepath.Dir(self)}, places...)
	}
	for _, dir := range places {
		if program := filepath.Join(dir, secureProgram); filepath.IsAbs(program) {
			_ = env.Become(program, append([]string{program}, env.Args...), env.Environ) // returns only when that is no program
		}
	}
	return fmt.Errorf("%s:// needs the program %s, which is neither beside cb nor in PATH", scheme, secureProgram)
}

// publicPlace returns a place without its passwords.
func publicPlace(path string) string {
	scheme, rest, isURL := strings.Cut(path, "://")
	if !isURL {
		return path
	}
	hosts, options, _ := strings.Cut(rest, "?")
	if at := strings.LastIndexByte(hosts, '@'); at >= 0 {
		user, _, secret := strings.Cut(hosts[:at], ":")
		if secret {
			user += ":***"
		}
		hosts = user + hosts[at:]
	}
	text := scheme + "://" + hosts
	for option := range strings.SplitSeq(options, "&") {
		if name, _, _ := strings.Cut(option, "="); name == "sentinel-password" {
			option = name + "=***"
		}
		if option != "" {
			text += "&" + option
		}
	}
	return strings.Replace(text, "&", "?", 1)
}

// storeSetting returns what a store flag is set to, and where that is said; ""
// when nothing sets it.
func (env *Env) storeSetting(fs *pflag.FlagSet, name string) (text, source string, err error) {
	if f := fs.Lookup(name); f.Changed {
		return f.Value.String(), "--" + name, nil
	}
	given, err := env.settings("")
	if err != nil {
		return "", "", err
	}
	if s := given[name]; len(s.values) > 0 {
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
