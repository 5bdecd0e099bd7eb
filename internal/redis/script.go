package redis

import (
	"context"
	"crypto/sha1" //nolint:gosec // it is how servers name scripts
	"encoding/hex"
	"errors"
	"strconv"
)

// Script is a program that a server runs as one step.
type Script string

// hash is the name by which a server remembers the script.
func (s Script) hash() string {
	sum := sha1.Sum([]byte(s)) //nolint:gosec // the same
	return hex.EncodeToString(sum[:])
}

// Call returns the words that run a script which the server may remember, or
// that send it along.
func (s Script) Call(remembered bool, keys, args []string) []string {
	words := make([]string, 0, 3+len(keys)+len(args))
	if remembered {
		words = append(words, "EVALSHA", s.hash())
	} else {
		words = append(words, "EVAL", string(s))
	}
	words = append(words, strconv.Itoa(len(keys)))
	return append(append(words, keys...), args...)
}

// Eval runs a script on the keys, which must have one hash tag. It is sent
// along only if the server does not remember it. Errors are those of Do.
func (c *Client) Eval(ctx context.Context, s Script, repeatable bool, keys, args []string) (Reply, error) {
	command := Command{Key: keys[0], Repeatable: repeatable, Words: s.Call(true, keys, args)}
	reply, err := c.Do(ctx, command)
	var trouble *Trouble
	if errors.As(err, &trouble) && trouble.Code == CodeNoScript {
		command.Words = s.Call(false, keys, args)
		return c.Do(ctx, command)
	}
	return reply, err
}
