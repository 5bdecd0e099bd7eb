package config

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// parser reads the expressions of a file one after the other.
type parser struct {
	file  *File
	toml  unstable.Parser
	table []string // that of the last header
	seen  map[string]definition

	offset, line int // how far the lines are counted
}

// parse adds what TOML text says. The text of a table header and of a key is
// its path: a key stands in the table that the header before it names.
func (f *File) parse(data []byte) error {
	p := &parser{file: f, seen: map[string]definition{}, line: 1}
	p.toml.Reset(data)
	for p.toml.NextExpression() {
		if err := p.expression(p.toml.Expression()); err != nil {
			return err
		}
	}
	var wrong *unstable.ParserError
	if errors.As(p.toml.Error(), &wrong) {
		line := 1 + bytes.Count(data[:p.toml.Range(wrong.Highlight).Offset], []byte("\n"))
		return &Error{Path: f.Path, Line: line, Err: fmt.Errorf("not TOML: %s", wrong.Message)}
	}
	return nil
}

func (p *parser) expression(node *unstable.Node) error {
	path, line := p.key(node)
	switch node.Kind {
	case unstable.Table:
		p.table = path
		return p.header(path, line)
	case unstable.ArrayTable:
		return p.wrong(line, "", "[[%s]] is a list of tables; write [%s]", dotted(path), dotted(path))
	default:
		return p.assign(p.table, path, node.Value(), line)
	}
}

// key returns the path that a header or a key names, and its line.
func (p *parser) key(node *unstable.Node) (path []string, line int) {
	for it := node.Key(); it.Next(); {
		if path == nil {
			line = p.lineOf(it.Node().Raw.Offset)
		}
		path = append(path, string(it.Node().Data))
	}
	return path, line
}

// lineOf counts on from where it was asked last: keys come in order.
func (p *parser) lineOf(offset uint32) int {
	p.line += bytes.Count(p.toml.Data()[p.offset:offset], []byte("\n"))
	p.offset = int(offset)
	return p.line
}

func (p *parser) wrong(line int, hint, format string, args ...any) error {
	return &Error{Path: p.file.Path, Line: line, Err: fmt.Errorf(format, args...), Hint: hint}
}

// header begins a table.
func (p *parser) header(path []string, line int) error {
	if err := p.mustBeTable(path, line); err != nil {
		return err
	}
	for i := 1; i < len(path); i++ {
		if err := p.define(path[:i], implicit, line); err != nil {
			return err
		}
	}
	return p.define(path, explicit, line)
}

// assign sets a key, which is relative to a table, to a value.
func (p *parser) assign(table, key []string, value *unstable.Node, line int) error {
	path := append(append([]string{}, table...), key...)
	for i := len(table) + 1; i < len(path); i++ {
		if err := p.mustBeTable(path[:i], line); err != nil {
			return err
		}
		if err := p.define(path[:i], byKey, line); err != nil {
			return err
		}
	}
	if value.Kind == unstable.InlineTable && roleOf(path) == isTable {
		if err := p.mustBeTable(path, line); err != nil {
			return err
		}
		if err := p.define(path, inline, line); err != nil {
			return err
		}
		for it := value.Children(); it.Next(); {
			key, line := p.key(it.Node())
			if err := p.assign(path, key, it.Node().Value(), line); err != nil {
				return err
			}
		}
		return nil
	}
	return p.set(path, value, line)
}

// set takes a value into the file.
func (p *parser) set(path []string, node *unstable.Node, line int) error {
	switch roleOf(path) {
	case isTable:
		return p.wrong(line, tablesHint, "%s must be a table", dotted(path))
	case isNothing:
		return p.wrong(line, tablesHint, "%s stands in no table", dotted(path))
	case isValue:
	}
	if err := p.define(path, byKey, line); err != nil {
		return err
	}
	last := len(path) - 1
	setting := Setting{Key: path[last], Line: line}
	if path[0] == circuits {
		setting.Circuit = path[1]
	}
	var err error
	if setting.Value, err = valueOf(node); err != nil {
		return p.wrong(line, "", "%s: %w", setting.Key, err)
	}
	p.file.Settings = append(p.file.Settings, setting)
	return nil
}

// valueOf converts a value. What is in an array of arrays is nobody's.
func valueOf(node *unstable.Node) (Value, error) {
	switch node.Kind {
	case unstable.String:
		return Value{Kind: String, Text: string(node.Data)}, nil
	case unstable.Bool:
		return Value{Kind: Boolean, Text: string(node.Data)}, nil
	case unstable.Integer:
		text := strings.ReplaceAll(string(node.Data), "_", "")
		n, err := strconv.ParseInt(text, 0, 64) // TOML's prefixes are Go's
		if err != nil {
			return Value{}, fmt.Errorf("%s is too large a number", text)
		}
		return Value{Kind: Integer, Text: strconv.FormatInt(n, 10)}, nil
	case unstable.Float:
		return Value{Kind: Float, Text: strings.ReplaceAll(string(node.Data), "_", "")}, nil
	case unstable.Array:
		array := Value{Kind: Array}
		for it := node.Children(); it.Next(); {
			item := Value{Kind: Array}
			if it.Node().Kind != unstable.Array {
				var err error
				if item, err = valueOf(it.Node()); err != nil {
					return Value{}, err
				}
			}
			array.Items = append(array.Items, item)
		}
		return array, nil
	case unstable.InlineTable:
		return Value{Kind: Dict}, nil
	default:
		return Value{Kind: Date, Text: string(node.Data)}, nil
	}
}
