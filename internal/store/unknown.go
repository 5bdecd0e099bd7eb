package store

import (
	"bytes"
	"encoding/json"
	"strings"
)

// keepUnknown returns the new document with those fields of the old one that
// this version does not know: a later one of the same schema wrote them.
func keepUnknown(old, now []byte) ([]byte, error) {
	var doc document
	if err := json.Unmarshal(old, &doc); err != nil {
		return nil, err
	}
	// What this version makes of the old document has all that it knows.
	known, err := marshal(doc)
	if err != nil {
		return nil, err
	}
	var trees [3]any
	for i, data := range [][]byte{old, known, now} {
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber() // numbers that are not ours keep every digit
		if err := decoder.Decode(&trees[i]); err != nil {
			return nil, err
		}
	}
	graft(trees[0], trees[1], trees[2])
	return marshal(trees[2])
}

// graft adds to the tree now what old has and known does not, at all depths.
// An object that is gone takes its unknown fields along.
func graft(old, known, now any) {
	switch old := old.(type) {
	case map[string]any:
		known, ok := known.(map[string]any)
		next, also := now.(map[string]any)
		if !ok || !also {
			return
		}
		for key, value := range old {
			if ours, ok := lookup(known, key); ok {
				graft(value, ours, next[key])
			} else if _, ok := lookup(next, key); !ok {
				next[key] = value
			}
		}
	case []any:
		known, ok := known.([]any)
		next, also := now.([]any)
		if !ok || !also || len(known) != len(old) {
			return
		}
		for i, value := range old {
			graft(value, known[i], counterpart(known[i], next))
		}
	}
}

// lookup finds a key as the decoder does, which takes upper for lower case.
func lookup(object map[string]any, key string) (any, bool) {
	if value, ok := object[key]; ok {
		return value, true
	}
	for have, value := range object {
		if strings.EqualFold(have, key) {
			return value, true
		}
	}
	return nil, false
}

// counterpart finds the same probe or transition in a list that lost entries
// at one end and got some at the other. Tokens and generations are unique.
func counterpart(entry any, list []any) any {
	object, ok := entry.(map[string]any)
	if !ok {
		return nil
	}
	for _, key := range []string{"token", "generation"} {
		id, ok := object[key]
		if !ok {
			continue
		}
		for _, candidate := range list {
			if other, ok := candidate.(map[string]any); ok && other[key] == id {
				return candidate
			}
		}
		return nil
	}
	return nil
}
