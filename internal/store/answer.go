package store

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cb/internal/breaker"
	"cb/internal/redis"
)

// The keys of a circuit, in the order in which the scripts get them.
const (
	keyDocument = iota
	keyQueue
	keyLeases
	keyDamaged
	keyOutput
)

// keys returns the keys of a circuit. The braces make a cluster keep them
// together; a document's key is the only one that ends with one.
func (r *Redis) keys(name string) []string {
	document := r.prefix + ":{" + strings.NewReplacer("%", "%25", "}", "%7D").Replace(name) + "}"
	return []string{document, document + ":queue", document + ":leases", document + ":damaged", document + ":stdout"}
}

// nameOf returns the name of the circuit whose document has a key.
func (r *Redis) nameOf(key string) (string, bool) {
	inner, starts := strings.CutPrefix(key, r.prefix+":{")
	inner, ends := strings.CutSuffix(inner, "}")
	if !starts || !ends {
		return "", false
	}
	name := strings.NewReplacer("%7D", "}", "%25", "%").Replace(inner)
	return name, CheckName(name) == nil && r.keys(name)[keyDocument] == key
}

// answer is a circuit as a server keeps it.
type answer struct {
	ahead   int64 // in the queue; when there are some, nothing else is known
	now     time.Time
	data    string // the document; empty: there is none
	found   bool
	version string
	live    []string // the tokens of leases that have not lapsed
}

var errReply = errors.New("the server's answer cannot be read")

// readAnswer reads what the scripts return.
func readAnswer(reply redis.Reply) (answer, error) {
	if ahead, ok := reply.(int64); ok {
		return answer{ahead: ahead}, nil
	}
	fields, ok := reply.([]redis.Reply)
	if !ok || len(fields) != 5 {
		return answer{}, errReply
	}
	var at answer
	var good bool
	if at.now, good = serverTime(fields[0], fields[1]); !good {
		return answer{}, errReply
	}
	at.data, at.found = fields[2].(string)
	if at.version, good = fields[3].(string); !good {
		return answer{}, errReply
	}
	live, _ := fields[4].([]redis.Reply)
	for _, one := range live {
		token, _ := one.(string)
		at.live = append(at.live, token)
	}
	return at, nil
}

// serverTime reads what TIME returns: seconds and microseconds.
func serverTime(seconds, micros redis.Reply) (time.Time, bool) {
	first, _ := seconds.(string)
	second, _ := micros.(string)
	s, wrong := strconv.ParseInt(first, 10, 64)
	us, also := strconv.ParseInt(second, 10, 64)
	return time.Unix(s, us*1000).UTC(), wrong == nil && also == nil
}

// snapshot reads the document.
func (at answer) snapshot(name string, decode decoder) (snapshot, error) {
	if !at.found {
		return snapshot{}, nil
	}
	if len(at.data) > maxDocument {
		return snapshot{}, fmt.Errorf("circuit %q is %w: larger than %d bytes", name, ErrCorrupt, maxDocument)
	}
	return decode.read([]byte(at.data), name)
}

// view returns what Read does.
func (at answer) view(name string) (c breaker.Circuit, now time.Time, found bool, err error) {
	s, err := at.snapshot(name, decode)
	if err != nil {
		return c, now, false, err
	}
	return at.loseDead(s.circuit), at.now, s.found, nil
}

// loseDead marks the probes whose lease has lapsed.
func (at answer) loseDead(c breaker.Circuit) breaker.Circuit {
	for _, probe := range c.Probes {
		if probe.Leased && !slices.Contains(at.live, probe.Token) {
			c = c.Lose(probe.Token)
		}
	}
	return c
}
