package redis

import (
	"context"
	"net"
	"strconv"
	"strings"
	"time"
)

// home returns the address of the server that should hold a key.
func (c *Client) home(ctx context.Context, key string) (string, error) {
	c.mu.Lock()
	known := ""
	switch c.Target.Mode {
	case Single:
		known = c.Target.Addrs[0]
	case Sentinel:
		known = c.master
	case Cluster:
		if c.homes == nil {
			c.homes = map[string]string{}
		}
		if known = c.homes[hashTag(key)]; known == "" {
			known = c.Target.Addrs[c.seed%len(c.Target.Addrs)]
		}
	}
	c.mu.Unlock()
	if known != "" {
		return known, nil
	}
	master, err := c.askSentinels(ctx)
	if err == nil {
		c.mu.Lock()
		c.master = master
		c.mu.Unlock()
	}
	return master, err
}

// hashTag returns what of a key decides on its place in a cluster.
func hashTag(key string) string {
	if _, rest, ok := strings.Cut(key, "{"); ok {
		if tag, _, closed := strings.Cut(rest, "}"); closed && tag != "" {
			return tag
		}
	}
	return key
}

// askSentinels returns the master that the first sentinel names. One that does
// not answer does not use up the time of the others.
func (c *Client) askSentinels(ctx context.Context) (string, error) {
	err := error(&Trouble{Text: "no sentinel answers"})
	for i, addr := range c.Target.Addrs {
		share := ctx
		if deadline, ok := ctx.Deadline(); ok {
			var done context.CancelFunc
			share, done = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(len(c.Target.Addrs)-i))
			defer done()
		}
		master, trouble := c.askSentinel(share, addr)
		if trouble == nil {
			return master, nil
		}
		err = trouble
	}
	return "", err
}

func (c *Client) askSentinel(ctx context.Context, addr string) (string, error) {
	n, err := c.dial(ctx, addr, account{user: c.Target.SentinelUser, password: c.Target.SentinelPassword})
	if err != nil {
		return "", err
	}
	defer n.Close()
	replies, err := n.exchange(ctx, [][]string{{"SENTINEL", "get-master-addr-by-name", c.Target.Master}})
	if err != nil {
		return "", err
	}
	switch reply := replies[0].(type) {
	case ServerError:
		return "", c.Explain(addr, reply)
	case []Reply:
		if host, port, ok := pair(reply); ok {
			return net.JoinHostPort(host, port), nil
		}
	}
	return "", &Trouble{Text: addr + " knows no master " + strconv.Quote(c.Target.Master)}
}

func pair(reply []Reply) (first, second string, ok bool) {
	if len(reply) < 2 {
		return "", "", false
	}
	first, _ = reply[0].(string)
	switch port := reply[1].(type) {
	case string:
		second = port
	case int64:
		second = strconv.FormatInt(port, 10)
	}
	return first, second, first != "" && second != ""
}

// Masters returns the addresses of all servers that hold keys.
func (c *Client) Masters(ctx context.Context) ([]string, error) {
	if c.Target.Mode != Cluster {
		addr, err := c.home(ctx, "")
		return []string{addr}, err
	}
	command := Command{Words: []string{"CLUSTER", "SLOTS"}, Repeatable: true}
	reply, err := c.Do(ctx, command)
	if err != nil {
		return nil, err
	}
	asked, _ := c.home(ctx, "")
	host, _, _ := net.SplitHostPort(asked)
	var all []string
	seen := map[string]bool{}
	ranges, _ := reply.([]Reply)
	for _, one := range ranges {
		addr, ok := masterOf(one, host)
		if ok && !seen[addr] {
			seen[addr] = true
			all = append(all, addr)
		}
	}
	if len(all) == 0 {
		return nil, &Trouble{Text: asked + " knows no masters"}
	}
	return all, nil
}

// masterOf reads one range of CLUSTER SLOTS: first slot, last slot, master,
// replicas. A node without a host is at the host that was asked.
func masterOf(reply Reply, asked string) (string, bool) {
	slots, ok := reply.([]Reply)
	if !ok || len(slots) < 3 {
		return "", false
	}
	node, ok := slots[2].([]Reply)
	if !ok || len(node) < 2 {
		return "", false
	}
	if host, _ := node[0].(string); host == "" {
		node[0] = asked
	}
	host, port, ok := pair(node)
	return net.JoinHostPort(host, port), ok
}
