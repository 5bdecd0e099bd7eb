package store

import (
	"context"
	"fmt"
	"time"

	"cb/internal/breaker"
)

// keeper renews the lease of a running probe until it is stopped. A process
// that dies does not, and so its probe is lost when the lease lapses.
type keeper struct {
	cancel context.CancelFunc
	done   chan struct{}
}

func (k *keeper) stop() {
	k.cancel()
	<-k.done
}

func (r *Redis) leaseSpan() time.Duration {
	if r.Lease == 0 {
		return defaultLease
	}
	return r.Lease
}

// leaseChanges returns the tokens that a change gives a lease, and those whose
// leases end with it.
func (u *change) leaseChanges(n next) (taken, gone []string) {
	for _, probe := range n.after.Probes {
		if probe.Leased && !lists(n.before, probe.Token) {
			taken = append(taken, probe.Token)
		}
	}
	for _, probe := range n.before.Probes {
		if probe.Leased && !lists(n.after, probe.Token) {
			gone = append(gone, probe.Token)
		}
	}
	return taken, gone
}

// keep begins to renew the leases of the probes that a change has listed.
func (u *change) keep(before, after breaker.Circuit) {
	taken, _ := u.leaseChanges(next{before: before, after: after})
	for _, token := range taken {
		ctx, cancel := context.WithCancel(context.Background())
		k := &keeper{cancel, make(chan struct{})}
		key := leaseKey{u.name, token}
		u.mu.Lock()
		if u.keepers == nil {
			u.keepers = map[leaseKey]*keeper{}
		}
		u.keepers[key] = k
		u.mu.Unlock()
		go func() {
			defer close(k.done)
			u.renew(ctx, key)
		}()
	}
}

func (r *Redis) stopKeeping(key leaseKey) {
	r.mu.Lock()
	k := r.keepers[key]
	delete(r.keepers, key)
	r.mu.Unlock()
	if k != nil {
		k.stop()
	}
}

// renew asks for the lease three times in its span, and more often after
// trouble. It ends when the circuit does not list the probe any more.
func (r *Redis) renew(ctx context.Context, key leaseKey) {
	span := r.leaseSpan()
	timer := time.NewTimer(span / 3)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		limited, done := context.WithTimeout(ctx, span/6)
		reply, err := r.renewals.Eval(limited, renewScript, true, r.keys(key.base), []string{key.token, milliseconds(span)})
		done()
		switch {
		case err != nil:
			timer.Reset(span / 30)
		case reply == int64(0):
			r.warn(fmt.Sprintf("%s does not wait for this probe any more (it was reset, or the probe taken for lost); its result will not count", key.base))
			return
		default:
			timer.Reset(span / 3)
		}
	}
}
