package store

import (
	"context"
	"crypto/sha1" //nolint:gosec // the version of a document, as the scripts compute it
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"cb/internal/breaker"
	"cb/internal/redis"
)

// change is one change of one circuit on a server: read, decide, and write if
// nobody else has written meanwhile; else again, after a wait in the queue.
type change struct {
	*Redis
	name   string
	keys   []string
	place  string // in the queue
	queued bool   // the server may have put it there
	pace   pace   // of the queue

	// When the answer to a write was lost, it may or may not have been made.
	base  string          // the version that it was to replace
	tried map[string]next // what it would have made, by version
}

func (r *Redis) newChange(name string) *change {
	return &change{Redis: r, name: name, keys: r.keys(name), place: fmt.Sprintf("%016x", rand.Uint64()), tried: map[string]next{}}
}

func (u *change) make(ctx context.Context, f func(breaker.Circuit, time.Time) (breaker.Circuit, error)) error {
	damage := error(nil)
	err := u.run(ctx, func(at answer) (next, error) {
		old, err := at.snapshot(u.name, decodeToReplace)
		if damage = nil; errors.Is(err, ErrCorrupt) {
			damage, err = err, nil
		}
		if err != nil {
			return next{}, err
		}
		before := at.loseDead(old.circuit)
		after, err := f(before, at.now)
		if err != nil || !u.Prove && sameCircuit(before, after) {
			return next{}, err
		}
		data, err := encode(document{Name: u.name, Clock: Reading{Wall: at.now}, Circuit: after}, old)
		if err != nil {
			return next{}, fmt.Errorf("write circuit %q: %w", u.name, err)
		}
		return next{write: true, data: string(data), before: old.circuit, after: after, damaged: damage != nil}, nil
	})
	if err == nil && damage != nil {
		u.warn(fmt.Sprintf("%v; kept as %s, and the circuit starts closed", damage, u.keys[keyDamaged]))
	}
	return err
}

func (u *change) remove(ctx context.Context, idle func(breaker.Circuit, time.Time) bool) (removed bool, err error) {
	err = u.run(ctx, func(at answer) (next, error) {
		c, now, found, err := at.view(u.name)
		removed = err == nil && found && idle(c, now)
		return next{write: removed, before: c}, err
	})
	return removed && err == nil, err
}

// next is what is to be written.
type next struct {
	write         bool
	data          string // empty: the circuit is removed
	damaged       bool   // what is replaced is kept
	before, after breaker.Circuit
}

// run asks decide until what it wants is written. It may want nothing.
func (u *change) run(ctx context.Context, decide func(at answer) (next, error)) error {
	at, err := u.read(ctx, "")
	for {
		if err != nil {
			return u.explain(err)
		}
		if at.ahead > 0 {
			if !wait(ctx, u.pace.pause(at.ahead, time.Now())) { //nolint:forbidigo // how long turns take, not what time it is
				u.leave(ctx)
				if err := ctx.Err(); errors.Is(err, context.Canceled) {
					return u.explain(err)
				}
				return u.explain(&redis.Trouble{Text: "other runs keep the circuit busy"})
			}
			at, err = u.read(ctx, u.place)
			continue
		}
		if made, err := u.settled(at); made != nil || err != nil {
			u.leave(ctx)
			if made != nil {
				u.keep(made.before, made.after)
			}
			return err
		}
		wanted, wrong := decide(at)
		if wrong != nil || !wanted.write {
			u.leave(ctx)
			return wrong
		}
		var written bool
		if written, at, err = u.write(ctx, at, wanted); written {
			u.keep(wanted.before, wanted.after)
			return nil
		}
		var trouble *redis.Trouble
		if errors.As(err, &trouble) && trouble.Sent && ctx.Err() == nil {
			u.base, u.tried[version(wanted.data)] = at.version, wanted
			at, err = u.read(ctx, u.place)
		}
	}
}

// settled tells what became of a write whose answer was lost: it was made, or
// somebody has written since and nobody knows. Otherwise it was not made.
func (u *change) settled(at answer) (*next, error) {
	if made, ok := u.tried[at.version]; ok {
		return &made, nil
	}
	if len(u.tried) == 0 || at.version == u.base {
		return nil, nil //nolint:nilnil // there is nothing to tell
	}
	err := u.explain(&redis.Trouble{Text: "the connection broke, and it is not known whether it was saved", Sent: true})
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.unknown == nil {
		u.unknown = map[string]error{}
	}
	u.unknown[u.name] = err
	return nil, err
}

func (u *change) explain(err error) error { return fmt.Errorf("change circuit %q: %w", u.name, err) }

// read asks for the state, or for a place in the queue and for the state when
// nobody is ahead.
func (u *change) read(ctx context.Context, place string) (answer, error) {
	u.queued = u.queued || place != ""
	reply, err := u.client.Eval(ctx, readScript, true, u.keys, []string{place, milliseconds(idleHead)})
	if err != nil {
		return answer{}, err //nolint:wrapcheck // run explains it
	}
	return readAnswer(reply)
}

// write replaces the document of a state. When somebody was faster it returns
// the new state; with an error, the old one.
func (u *change) write(ctx context.Context, at answer, n next) (written bool, now answer, err error) {
	taken, gone := u.leaseChanges(n)
	for _, token := range gone {
		u.stopKeeping(leaseKey{u.name, token}) // a renewal must not find its probe gone
	}
	kept := "0"
	if n.damaged {
		kept = milliseconds(keptDamaged)
	}
	way := "new"
	if u.queued {
		way = "queued"
	}
	args := []string{
		u.place, milliseconds(idleHead), at.version, n.data, milliseconds(u.expiry(n.after)), kept,
		milliseconds(u.leaseSpan()), strconv.Itoa(len(taken)), way,
	}
	u.queued = true
	reply, err := u.client.Eval(ctx, writeScript, false, u.keys, slices.Concat(args, taken, gone))
	if err != nil {
		return false, at, err //nolint:wrapcheck // run explains it
	}
	if reply == "OK" {
		return true, at, nil
	}
	now, err = readAnswer(reply)
	return false, now, err
}

// leave gives up the place in the queue.
func (u *change) leave(ctx context.Context) {
	if u.queued {
		_, _ = u.client.Eval(ctx, leaveScript, true, u.keys, []string{u.place, milliseconds(idleHead)}) // else it lapses
	}
}

// expiry is how long a circuit may lie idle, zero for ever. Only one that is
// closed and has no failure that still counts can be forgotten without harm.
func (r *Redis) expiry(c breaker.Circuit) time.Duration {
	if c.Shown() != breaker.Closed.String() || c.Streak > 0 {
		return 0
	}
	if c.Policy.WindowCalls > 0 || c.Policy.WindowSpan > r.ttl {
		judged := c.Calls[len(c.Calls)-c.Fresh:]
		if slices.ContainsFunc(judged, func(call breaker.Call) bool { return call.Outcome.Failed() }) {
			return 0
		}
	}
	return r.ttl
}

// How long a turn in the queue is taken to be before one was seen to pass, and
// bounds of a pause.
const (
	usualTurn  = 500 * time.Microsecond
	leastPause = time.Millisecond
	mostPause  = time.Second
)

// pace is how fast a queue moves for one who waits in it. On a machine that is
// busy with a crowd a turn takes long, and each look makes it longer.
type pace struct {
	turn  time.Duration // zero: none was seen
	ahead int64         // at the last look
	at    time.Time
}

// pause is how long one who has so many ahead of him need not look again: half
// to all of the time that they will take, so that he seldom comes too late.
func (p *pace) pause(ahead int64, now time.Time) time.Duration {
	switch passed := p.ahead - ahead; {
	case passed > 0:
		p.turn = max(usualTurn, now.Sub(p.at)/time.Duration(passed))
	case p.turn == 0:
		p.turn = usualTurn
	default: // it stands still, or its head was passed and it began anew
		p.turn *= 2
	}
	p.turn = min(p.turn, mostPause)
	p.ahead, p.at = ahead, now
	pause := min(mostPause, time.Duration(min(ahead, 1000))*p.turn)
	return max(leastPause, pause/2+rand.N(pause/2))
}

// wait pauses, but at most for half of the time that is left. It reports
// whether there is time for that.
func wait(ctx context.Context, pause time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok {
		pause = min(pause, time.Until(deadline)/2)
	}
	if pause < leastPause/2 {
		return false
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// version is that of the scripts.
func version(data string) string {
	sum := sha1.Sum([]byte(data)) //nolint:gosec // no secret hangs on it
	return hex.EncodeToString(sum[:])
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
