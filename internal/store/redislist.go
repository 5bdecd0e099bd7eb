package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"cb/internal/redis"
)

// scanCount is how many keys a server looks at in one step of a listing.
const scanCount = "1000"

// List is as that of Dir: all circuits in the order of their names.
func (r *Redis) List() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var all []listed
		err := r.eachNode(func(addr string, names []string) error {
			for batch := range slices.Chunk(names, listBatch) {
				some, err := r.viewAll(addr, batch)
				if err != nil {
					return err
				}
				all = append(all, some...)
			}
			return nil
		})
		if err != nil {
			yield(Entry{}, fmt.Errorf("list store: %w", err))
			return
		}
		slices.SortFunc(all, func(a, b listed) int { return strings.Compare(a.Name, b.Name) })
		for _, one := range all {
			if !one.missing && !yield(one.Entry, one.err) {
				return
			}
		}
	}
}

// Names is as that of Dir.
func (r *Redis) Names() ([]string, error) {
	var all []string
	err := r.eachNode(func(_ string, names []string) error {
		all = append(all, names...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list store: %w", err)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// eachNode calls f with the names that each server keeps.
func (r *Redis) eachNode(f func(addr string, names []string) error) error {
	var nodes []string
	err := r.limited(context.Background(), func(ctx context.Context) (err error) {
		nodes, err = r.client.Masters(ctx)
		return err //nolint:wrapcheck // the caller says what it was doing
	})
	for _, addr := range nodes {
		var names []string
		if err == nil {
			names, err = r.scan(addr)
		}
		if err == nil {
			err = f(addr, names)
		}
	}
	return err
}

// scan returns the names that one server keeps. KEYS would stop the server for
// all others; SCAN may tell a key twice.
func (r *Redis) scan(addr string) ([]string, error) {
	pattern := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`).Replace(r.prefix) + ":{*}"
	var names []string
	for cursor := "0"; ; {
		replies, err := r.on(addr, [][]string{{"SCAN", cursor, "MATCH", pattern, "COUNT", scanCount}})
		if err != nil {
			return nil, err
		}
		page, _ := replies[0].([]redis.Reply)
		if len(page) != 2 {
			return nil, errReply
		}
		keys, _ := page[1].([]redis.Reply)
		for _, key := range keys {
			text, _ := key.(string)
			if name, ok := r.nameOf(text); ok {
				names = append(names, name)
			}
		}
		if cursor, _ = page[0].(string); cursor == "0" || cursor == "" {
			slices.Sort(names)
			return slices.Compact(names), nil
		}
	}
}

// on sends commands to one server. The first error among the replies is its
// own, but for what viewAll deals with.
func (r *Redis) on(addr string, commands [][]string) (replies []redis.Reply, err error) {
	err = r.limited(context.Background(), func(ctx context.Context) (err error) {
		replies, err = r.client.On(ctx, addr, commands)
		return err //nolint:wrapcheck // the caller says what it was doing
	})
	if err != nil {
		return nil, err
	}
	if refused, ok := replies[0].(redis.ServerError); ok && len(replies) == 1 {
		return nil, r.client.Explain(addr, refused)
	}
	return replies, nil
}

// viewAll reads circuits that one server keeps, in one flight. The first
// command brings the script along.
func (r *Redis) viewAll(addr string, names []string) ([]listed, error) {
	var commands [][]string
	for i, name := range names {
		commands = append(commands, readScript.Call(i > 0, r.keys(name), []string{"", ""}))
	}
	replies, err := r.on(addr, append(commands, []string{"PING"}))
	if err != nil {
		return nil, err
	}
	return inParallel(names, func(i int) listed {
		at, err := readAnswer(replies[i])
		if refused, ok := replies[i].(redis.ServerError); ok {
			err = r.client.Explain(addr, refused)
		}
		if err != nil {
			return listed{Entry: Entry{Name: names[i]}, err: fmt.Errorf("read circuit %q: %w", names[i], err)}
		}
		c, now, found, err := at.view(names[i])
		return listed{Entry{names[i], c, now}, !found && err == nil, err}
	}), nil
}

// SaveOutput is as that of Dir. The output lives as long as idle circuits do.
func (r *Redis) SaveOutput(name string, output []byte) error {
	return r.limited(context.Background(), func(ctx context.Context) error {
		_, err := r.client.Eval(ctx, keepScript, true, r.keys(name), []string{string(output), milliseconds(r.ttl)})
		if err != nil {
			return fmt.Errorf("write output of circuit %q: %w", name, err)
		}
		return nil
	})
}

// Output is as that of Dir; the age is the server's.
func (r *Redis) Output(name string) (output []byte, age time.Duration, found bool, err error) {
	err = r.limited(context.Background(), func(ctx context.Context) error {
		reply, err := r.client.Eval(ctx, outputScript, true, r.keys(name), nil)
		if err == nil {
			output, age, found, err = readOutput(reply)
		}
		if err != nil {
			return fmt.Errorf("read output of circuit %q: %w", name, err)
		}
		return nil
	})
	return output, age, found, err
}

func readOutput(reply redis.Reply) (output []byte, age time.Duration, found bool, err error) {
	fields, _ := reply.([]redis.Reply)
	if len(fields) != 2 {
		return nil, 0, false, errReply
	}
	kept, found := fields[0].(string)
	if !found {
		return nil, 0, false, nil
	}
	text, _ := fields[1].(string)
	dated, body, _ := strings.Cut(kept, " ")
	now, wrong := strconv.ParseInt(text, 10, 64)
	then, also := strconv.ParseInt(dated, 10, 64)
	if err := errors.Join(wrong, also); err != nil {
		return nil, 0, false, errReply
	}
	return []byte(body), max(0, time.Duration(now-then)*time.Millisecond), true, nil
}
