package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"cb/internal/breaker"
	"cb/internal/redis"
)

// Redis keeps circuits on a Redis or Valkey server, for runs on many machines.
// The same core decides as with Dir; time is the server's. A function given to
// Update may be called several times, until its result could be written.
type Redis struct {
	// Limit is how long each reading or change may take, connecting and a
	// second attempt after trouble included; zero means 2s.
	Limit time.Duration
	// Prove makes Update write even a circuit that did not change.
	Prove bool
	// Warn is told, in one line, what did not stop the store; nil: nobody.
	Warn func(message string)
	// Lease is how long a probe outlives its process; zero means 30s.
	Lease time.Duration

	prefix string
	ttl    time.Duration // of idle circuits; zero: they stay

	client   redis.Client
	renewals redis.Client // apart, so that a change never waits for a renewal

	mu      sync.Mutex
	trouble error            // of the last reading or change; nil: it went well
	until   time.Time        // when the limit of that was over
	unknown map[string]error // circuits of which nobody knows what the last change did
	keepers map[leaseKey]*keeper
}

const (
	defaultPrefix = "cb"
	defaultLimit  = 2 * time.Second
	defaultLease  = 30 * time.Second
	defaultTTL    = 30 * 24 * time.Hour

	// idleHead is how long the head of a queue may do nothing. One that is
	// slower, for its network or its machine is slow, may still write if nobody
	// else has.
	idleHead = 20 * time.Millisecond
	// keptDamaged is how long a damaged document is kept beside its circuit.
	keptDamaged = 30 * 24 * time.Hour
)

// IsServer reports whether OpenRedis reads URLs of a scheme.
func IsServer(scheme string) bool { return redis.Speaks(scheme) }

// OpenRedis returns the store at a URL, without connecting. Besides the options
// that redis.Parse knows there are prefix (of all keys, "cb") and ttl (of idle
// closed circuits, 30d; 0 keeps them). TLS needs secure. Its errors are the
// user's.
func OpenRedis(url string, secure redis.Secure) (*Redis, error) {
	target, options, err := redis.Parse(url)
	if err != nil {
		return nil, err //nolint:wrapcheck // it is for the user as it is
	}
	r := &Redis{prefix: defaultPrefix, ttl: defaultTTL}
	for name, value := range options {
		switch {
		case name == "prefix" && value != "":
			r.prefix = value
		case name == "ttl" && value == "0":
			r.ttl = 0
		case name == "ttl":
			if r.ttl, err = breaker.ParseDuration(value); err != nil {
				return nil, fmt.Errorf("option ttl: %w", err)
			}
		default:
			known := append(redis.Options(), "prefix", "ttl")
			slices.Sort(known)
			return nil, fmt.Errorf("there is no option %q; there are %s", name, strings.Join(known, ", "))
		}
	}
	r.client.Target, r.renewals.Target = target, target
	r.client.Secure, r.renewals.Secure = secure, secure
	return r, nil
}

// Secured reports whether the connections use TLS.
func (r *Redis) Secured() bool { return r.client.Target.TLS }

// Place returns the URL without user, password and options, but with a prefix
// that is not the usual one.
func (r *Redis) Place() string {
	place := r.client.Target.String()
	if r.prefix != defaultPrefix {
		place += "?prefix=" + r.prefix
	}
	return place
}

// Update is as that of Dir. Its errors are ErrNewer, those of f, the context's,
// or trouble with the server.
func (r *Redis) Update(ctx context.Context, name string, f func(c breaker.Circuit, now time.Time) (breaker.Circuit, error)) error {
	if err := CheckName(name); err != nil {
		return err
	}
	r.mu.Lock()
	unknown := r.unknown[name]
	r.mu.Unlock()
	if unknown != nil {
		return unknown // doing it again could count a run twice
	}
	return r.limited(ctx, func(ctx context.Context) error {
		return r.newChange(name).make(ctx, f)
	})
}

// Read is as that of Dir. It writes nothing, and a replica can answer it.
func (r *Redis) Read(name string) (c breaker.Circuit, now time.Time, found bool, err error) {
	if err := CheckName(name); err != nil {
		return c, now, false, err
	}
	err = r.limited(context.Background(), func(ctx context.Context) error {
		reply, err := r.client.Eval(ctx, readScript, true, r.keys(name), []string{"", ""})
		if err != nil {
			return fmt.Errorf("read circuit %q: %w", name, err)
		}
		at, err := readAnswer(reply)
		if err != nil {
			return fmt.Errorf("read circuit %q: %w", name, err)
		}
		c, now, found, err = at.view(name)
		return err
	})
	return c, now, found, err
}

// Remove is as that of Dir.
func (r *Redis) Remove(ctx context.Context, name string, idle func(c breaker.Circuit, now time.Time) bool) (removed bool, err error) {
	if err := CheckName(name); err != nil {
		return false, err
	}
	err = r.limited(ctx, func(ctx context.Context) error {
		removed, err = r.newChange(name).remove(ctx, idle)
		return err
	})
	return removed, err
}

// limited bounds what do may take. A second attempt soon after trouble has
// what the first one left of the limit, so that a server that is gone costs a
// run no more than that.
func (r *Redis) limited(ctx context.Context, do func(ctx context.Context) error) error {
	limit := r.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	r.mu.Lock()
	left, last := time.Until(r.until), r.trouble
	r.mu.Unlock()
	switch {
	case last == nil || left < -limit:
		left = limit
	case left < limit/20:
		return last
	}
	ctx, done := context.WithTimeout(ctx, left)
	defer done()
	err := do(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trouble = nil
	var trouble *redis.Trouble
	if errors.As(err, &trouble) {
		r.trouble = err
		r.until, _ = ctx.Deadline()
	}
	return err
}

// Close releases the leases that this process holds and the connections. The
// Redis can be used again.
func (r *Redis) Close() error {
	r.mu.Lock()
	open := r.keepers
	r.keepers = nil
	r.mu.Unlock()
	var err error
	for key, k := range open {
		k.stop()
		err = errors.Join(err, r.limited(context.Background(), func(ctx context.Context) error {
			words := []string{"ZREM", r.keys(key.base)[keyLeases], key.token}
			_, err := r.client.Do(ctx, redis.Command{Words: words, Key: words[1], Repeatable: true})
			return err //nolint:wrapcheck // nobody is told
		}))
	}
	r.client.Close()
	r.renewals.Close()
	return err
}

func (r *Redis) warn(message string) {
	if r.Warn != nil {
		r.Warn(message)
	}
}
