package redis

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// conn is a connection. Its greeting goes out together with the first
// commands, so that it costs no round trip.
type conn struct {
	net.Conn
	reader   *bufio.Reader
	addr     string
	greeting [][]string // not sent yet
	used     bool       // it has answered before
	fresh    time.Time  // until then it may be kept for later
}

// account is whom a connection greets as.
type account struct {
	user, password string
	db             int
	role           bool // ask whether it is a master
}

// greeting returns the commands that come before all others.
func (a account) greeting() [][]string {
	var commands [][]string
	switch {
	case a.password != "" && a.user != "":
		commands = append(commands, []string{"AUTH", a.user, a.password})
	case a.password != "":
		commands = append(commands, []string{"AUTH", a.password})
	}
	if a.db > 0 {
		commands = append(commands, []string{"SELECT", strconv.Itoa(a.db)})
	}
	if a.role {
		commands = append(commands, []string{"ROLE"})
	}
	return commands
}

// dial connects to an address; as greets there.
func (c *Client) dial(ctx context.Context, addr string, as account) (*conn, error) {
	raw, err := (&net.Dialer{}).DialContext(ctx, c.Target.Network, addr)
	if err != nil {
		return nil, &Trouble{Text: fmt.Sprintf("no connection to %s: %s", addr, reason(err))}
	}
	if c.Target.TLS {
		if raw, err = c.secure(ctx, raw, addr); err != nil {
			return nil, err
		}
	}
	return &conn{Conn: raw, reader: bufio.NewReader(raw), addr: addr, greeting: as.greeting()}, nil
}

// Secure begins TLS on a connection to an address of the target. Its error is
// one line for people.
type Secure func(ctx context.Context, raw net.Conn, addr string, t *Target) (net.Conn, error)

func (c *Client) secure(ctx context.Context, raw net.Conn, addr string) (net.Conn, error) {
	err := errors.New("this program has no TLS")
	if c.Secure != nil {
		var secured net.Conn
		if secured, err = c.Secure(ctx, raw, addr, &c.Target); err == nil {
			return secured, nil
		}
	}
	_ = raw.Close()
	return nil, &Trouble{Text: fmt.Sprintf("no TLS connection to %s: %s", addr, reason(err))}
}

// greet sends the greeting by itself, before commands that must not be
// carried out when it is refused.
func (n *conn) greet(ctx context.Context) error {
	if len(n.greeting) == 0 {
		return nil
	}
	_, err := n.exchange(ctx, nil)
	return err
}

// exchange sends commands in one flight and reads their replies. Its error is
// a *Trouble; the connection is of no use afterwards.
func (n *conn) exchange(ctx context.Context, commands [][]string) ([]Reply, error) {
	deadline, _ := ctx.Deadline()
	_ = n.SetDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { _ = n.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	greeting := n.greeting
	n.greeting = nil
	var flight []byte
	for _, command := range greeting {
		flight = appendCommand(flight, command)
	}
	for _, command := range commands {
		flight = appendCommand(flight, command)
	}
	if _, err := n.Write(flight); err != nil {
		return nil, n.unsent(err)
	}
	for _, command := range greeting {
		reply, err := readReply(n.reader, 0)
		if err != nil {
			return nil, n.lost(err)
		}
		if err := n.greeted(command, reply); err != nil {
			return nil, err
		}
	}
	replies := make([]Reply, len(commands))
	for i := range commands {
		reply, err := readReply(n.reader, 0)
		if err != nil {
			return nil, n.lost(err)
		}
		replies[i] = reply
	}
	n.used, n.fresh = true, deadline.Add(idleSpan)
	return replies, nil
}

// greeted judges the reply to a command of the greeting.
func (n *conn) greeted(command []string, reply Reply) error {
	if refused, ok := reply.(ServerError); ok {
		text := string(refused)
		for _, word := range command[1:] {
			text = strings.ReplaceAll(text, word, "***") // it may be the password
		}
		if strings.HasPrefix(text, "ERR") && strings.Contains(text, "password") {
			text = "WRONGPASS" // as servers before 6.0 say it, and those that have none
		}
		return explain(n.addr, ServerError(text))
	}
	if role, ok := reply.([]Reply); ok && command[0] == "ROLE" && (len(role) == 0 || role[0] != "master") {
		return &Trouble{Code: codeReadOnly, Text: n.addr + " is not the master"}
	}
	return nil
}

// unsent explains a connection on which nothing can be sent. A server that
// turns a client away says why before it closes.
func (n *conn) unsent(err error) error {
	reply, why := readReply(n.reader, 0)
	if refused, ok := reply.(ServerError); ok {
		return explain(n.addr, refused)
	}
	if why != nil {
		err = why
	}
	return n.lost(err)
}

// lost explains a connection that broke or timed out.
func (n *conn) lost(err error) error {
	trouble := &Trouble{Sent: true}
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		trouble.Text = n.addr + " did not answer in time"
	case errors.Is(err, errProtocol):
		trouble.Code, trouble.Text = codeStranger, n.addr+" does not speak the Redis protocol"
	case strings.Contains(err.Error(), "tls: "):
		trouble.Text = fmt.Sprintf("%s refuses the TLS connection: %s", n.addr, reason(err))
	default:
		trouble.Text = n.addr + " closed the connection"
	}
	return trouble
}
