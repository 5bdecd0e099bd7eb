// Package redis speaks the Redis protocol as far as a store of circuits needs
// it: commands about one key, in as few round trips as can be, to one server,
// to a master that sentinels know, or to the node of a cluster. It also serves
// Valkey. It exists because a general client costs every start of the program
// more than all of this.
package redis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Client talks to the servers of a Target. It connects when it is first used,
// may be used by several goroutines, and makes a connection for each that is
// busy. How long it may take is the context's to say.
type Client struct {
	Target Target
	// Secure is needed for a Target with TLS. It is not part of this package,
	// because to link TLS costs every start of the program.
	Secure Secure

	mu     sync.Mutex
	idle   []*conn
	master string            // as a sentinel told, or ""
	homes  map[string]string // of a cluster: hash tag to address
	seed   int               // which of the Addrs to ask next
	ready  bool              // the password file has been read
}

// Command is what is sent about one key.
type Command struct {
	Words []string
	Key   string
	// Repeatable says that it does no harm to carry it out twice.
	Repeatable bool
}

// The pauses between attempts: the first, the longest, and how many attempts a
// single server gets that cannot be reached at all.
const (
	firstPause = 10 * time.Millisecond
	mostPause  = 250 * time.Millisecond
	knocks     = 5
)

// idleSpan is how long a connection is kept that nothing is sent on. A command
// may run for hours, and what lies between may have forgotten the connection
// without telling.
const idleSpan = 20 * time.Second

// Do sends a command to where its key lives and returns the reply. It follows
// redirections and a change of master, and asks again for what passes by
// itself, as long as the context lasts. Its errors are *Trouble, or the
// context's when it was cancelled.
func (c *Client) Do(ctx context.Context, command Command) (Reply, error) {
	asking := ""   // where one ASK has led to
	var told error // what a server has answered; it says more than that the next try was late
	for try := 1; ; try++ {
		reply, err := c.once(ctx, command, asking)
		if err == nil {
			return reply, nil
		}
		asking = ""
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, fmt.Errorf("ask server: %w", context.Cause(ctx))
		}
		var trouble *Trouble
		if !errors.As(err, &trouble) || trouble.Sent && !command.Repeatable {
			return nil, err
		}
		if trouble.Code != "" {
			told = err
		} else if told != nil {
			err = told
		}
		switch next := c.afterwards(command, trouble, try); next {
		case giveUp:
			return nil, err
		case atOnce:
			if trouble.Code == codeAsk {
				asking = trouble.Addr
			}
		case later:
			if !pause(ctx, try) {
				return nil, err
			}
		}
	}
}

// step is what to do after an attempt that failed.
type step uint8

const (
	giveUp step = iota
	atOnce
	later
)

// afterwards decides whether another attempt makes sense, and forgets what it
// has shown to be wrong.
func (c *Client) afterwards(command Command, trouble *Trouble, try int) step {
	c.mu.Lock()
	defer c.mu.Unlock()
	tag := hashTag(command.Key)
	switch {
	case c.Target.Mode == Cluster && (trouble.Code == codeMoved || trouble.Code == codeAsk):
		if trouble.Code == codeMoved {
			c.homes[tag] = trouble.Addr
		}
		if try > len(c.Target.Addrs)+3 {
			return later // the nodes do not agree yet
		}
		return atOnce
	case trouble.transient():
		return later
	case trouble.Code != "" && trouble.Code != codeReadOnly:
		return giveUp
	case c.Target.Mode == Single:
		if trouble.Code != "" || try >= knocks {
			return giveUp
		}
		return later
	}
	// The master or the node has gone or is no master any more.
	c.master = ""
	if _, known := c.homes[tag]; !known {
		c.seed++
	}
	delete(c.homes, tag)
	return later
}

// pause waits a little longer after each attempt, and reports whether there
// is time for another.
func pause(ctx context.Context, try int) bool {
	most := min(mostPause, firstPause<<min(try, 10))
	wait := most/2 + rand.N(most/2)
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// once makes one attempt.
func (c *Client) once(ctx context.Context, command Command, asking string) (Reply, error) {
	addr := asking
	if addr == "" {
		var err error
		if addr, err = c.home(ctx, command.Key); err != nil {
			return nil, err
		}
	}
	commands := [][]string{command.Words}
	if asking != "" {
		commands = [][]string{{"ASKING"}, command.Words}
	}
	replies, err := c.send(ctx, addr, commands, command.Repeatable)
	if err != nil {
		return nil, err
	}
	last := replies[len(replies)-1]
	if refused, ok := last.(ServerError); ok {
		return nil, c.Explain(addr, refused)
	}
	return last, nil
}

// On sends commands that may be repeated to one server in one flight. A reply
// may be a ServerError.
func (c *Client) On(ctx context.Context, addr string, commands [][]string) ([]Reply, error) {
	return c.send(ctx, addr, commands, true)
}

// send exchanges commands over a connection that is kept for the next ones.
func (c *Client) send(ctx context.Context, addr string, commands [][]string, repeatable bool) ([]Reply, error) {
	n, err := c.take(ctx, addr)
	if err == nil && !repeatable {
		err = n.greet(ctx)
	}
	var replies []Reply
	if err == nil {
		replies, err = n.exchange(ctx, commands)
	}
	if err != nil && n != nil {
		_ = n.Close()
		if trouble := (*Trouble)(nil); n.used && repeatable && errors.As(err, &trouble) && trouble.Sent && ctx.Err() == nil {
			return c.send(ctx, addr, commands, repeatable) // it had been closed while it was idle
		}
	}
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = append(c.idle, n)
	return replies, nil
}

// take returns an idle connection to an address, or a new one.
func (c *Client) take(ctx context.Context, addr string) (*conn, error) {
	c.mu.Lock()
	for i := len(c.idle) - 1; i >= 0; i-- {
		n := c.idle[i]
		if n.addr != addr {
			continue
		}
		c.idle = slices.Delete(c.idle, i, i+1)
		if time.Until(n.fresh) > 0 {
			c.mu.Unlock()
			return n, nil
		}
		_ = n.Close()
	}
	err := c.readPassword()
	as := account{c.Target.User, c.Target.Password, c.Target.DB, c.Target.Mode == Sentinel}
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return c.dial(ctx, addr, as)
}

// readPassword reads the password file once. The caller holds the mutex.
func (c *Client) readPassword() error {
	if c.ready || c.Target.PasswordFile == "" {
		return nil
	}
	text, err := os.ReadFile(c.Target.PasswordFile)
	if err != nil {
		return &Trouble{Text: "cannot read the password file: " + reason(err)}
	}
	c.Target.Password, c.ready = strings.TrimRight(string(text), "\r\n"), true
	return nil
}

// Explain says what the error of a server means, without secrets.
func (c *Client) Explain(addr string, refused ServerError) *Trouble {
	return explain(addr, ServerError(c.Target.scrub(string(refused))))
}

// Close closes the idle connections. The Client can be used again.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.idle {
		_ = n.Close()
	}
	c.idle = nil
}
