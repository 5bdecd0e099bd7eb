package config

import (
	"fmt"
	"strconv"
	"strings"
)

// The names of the tables.
const (
	defaults = "defaults"
	circuits = "circuits"
)

// tablesHint says what a file is made of.
const tablesHint = `the tables are [defaults] and [circuits."NAME"]`

// definition is how a path came to be, and where.
type definition struct {
	how  manner
	line int
}

type manner int

// TOML lets a table be made once, but for those that stand on the way of others.
const (
	implicit manner = iota // on the way of a header
	explicit               // by its header
	byKey                  // by a dotted key or, a value, by its own
	inline                 // between braces, which ends it
)

// define notes how a path came to be. Its error is that it was there already.
func (p *parser) define(path []string, how manner, line int) error {
	id := strings.Join(path, "\x00")
	before, again := p.seen[id]
	switch {
	case !again:
		if roleOf(path) == isTable && len(path) == 2 {
			p.file.Circuits = append(p.file.Circuits, Table{path[1], line})
		}
	case how == implicit && before.how != inline:
		return nil
	case how == byKey && before.how == byKey && roleOf(path) == isTable:
		return nil
	case how == explicit && before.how == implicit:
	case roleOf(path) == isValue:
		return p.wrong(line, "", "%s is set twice, first in line %d", path[len(path)-1], before.line)
	default:
		return p.wrong(line, "", "[%s] is there twice, first in line %d", dotted(path), before.line)
	}
	p.seen[id] = definition{how, line}
	return nil
}

// role is what can be at a path.
type role int

const (
	isNothing role = iota
	isTable
	isValue
)

// roleOf says what can be at a path: values stand in [defaults] and in the
// tables below [circuits].
func roleOf(path []string) role {
	level := len(path)
	if path[0] == circuits {
		level--
	} else if path[0] != defaults {
		return isNothing
	}
	switch level {
	case 0, 1:
		return isTable
	case 2:
		return isValue
	}
	return isNothing
}

func (p *parser) mustBeTable(path []string, line int) error {
	switch {
	case roleOf(path) == isTable && (len(path) < 2 || path[1] != ""):
		return nil
	case roleOf(path) == isTable:
		return p.wrong(line, "", "a circuit's name must not be empty")
	case path[0] == circuits:
		return p.wrong(line, fmt.Sprintf("a name with a dot needs quotes: [circuits.%s]", strconv.Quote(strings.Join(path[1:], "."))),
			"[%s] is no table", dotted(path))
	default:
		return p.wrong(line, tablesHint, "unknown table [%s]", dotted(path))
	}
}

// dotted writes a path as TOML does.
func dotted(path []string) string {
	words := make([]string, len(path))
	for i, word := range path {
		words[i] = word
		bare := word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
		if !bare {
			words[i] = strconv.Quote(word)
		}
	}
	return strings.Join(words, ".")
}
