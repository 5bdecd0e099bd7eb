package store

import (
	"context"
	"strings"
	"time"

	"cb/internal/redis"
)

// Server is what can be said of a server without a look at its circuits.
type Server struct {
	Addr     string
	Version  string        // such as "redis 7.2.4"; "" when the server does not tell
	Role     string        // "master", "slave" or ""
	Eviction string        // how it makes room when its memory is full; "" when it has no limit
	Trip     time.Duration // one question and its answer, without connecting
	Ahead    time.Duration // its clock before this machine's
}

// tryScript does to a key of its own what scripts do to those of circuits.
const tryScript redis.Script = `
redis.call('SET', KEYS[2], 'doctor', 'PX', 1000)
redis.call('DEL', KEYS[2])
return redis.call('TIME')
`

// Examine asks every server that holds circuits about itself, and tries, with
// a key of its own, what circuits need of it.
func (r *Redis) Examine(ctx context.Context) ([]Server, error) {
	var servers []Server
	err := r.limited(ctx, func(ctx context.Context) error {
		addrs, err := r.client.Masters(ctx)
		if err != nil {
			return err //nolint:wrapcheck // it is one line for people
		}
		for _, addr := range addrs {
			s, err := r.examineServer(ctx, addr)
			if err != nil {
				return err
			}
			servers = append(servers, s)
		}
		_, err = r.client.Eval(ctx, tryScript, true, r.keys(PermitPrefix+"doctor"), nil)
		return err //nolint:wrapcheck // the same
	})
	return servers, err
}

func (r *Redis) examineServer(ctx context.Context, addr string) (Server, error) {
	s := Server{Addr: addr}
	replies, err := r.client.On(ctx, addr, [][]string{{"INFO"}})
	if err != nil {
		return s, err //nolint:wrapcheck // it is one line for people
	}
	if info, ok := replies[0].(string); ok { // an access list may keep it from us
		s.read(info)
	}
	asked := SystemClock().Wall
	replies, err = r.client.On(ctx, addr, [][]string{{"TIME"}})
	answered := SystemClock().Wall
	if err != nil {
		return s, err //nolint:wrapcheck // the same
	}
	if refused, ok := replies[0].(redis.ServerError); ok {
		return s, r.client.Explain(addr, refused)
	}
	now, _ := replies[0].([]redis.Reply)
	if len(now) != 2 {
		return s, errReply
	}
	at, good := serverTime(now[0], now[1])
	if !good {
		return s, errReply
	}
	s.Trip = answered.Sub(asked)
	s.Ahead = at.Sub(asked.Add(s.Trip / 2))
	return s, nil
}

// read reads the lines of INFO, "name:value".
func (s *Server) read(info string) {
	said := map[string]string{}
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		said[name] = value
	}
	s.Role = said["role"]
	for _, kind := range []string{"valkey", "redis"} {
		if version := said[kind+"_version"]; version != "" && s.Version == "" {
			s.Version = kind + " " + version
		}
	}
	if said["maxmemory"] != "0" {
		s.Eviction = said["maxmemory_policy"]
	}
}
