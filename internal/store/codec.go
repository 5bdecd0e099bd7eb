package store

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// codec reads or writes a document in the one layout that this version writes,
// both by the same description of its fields (fields.go). encoding/json can do
// that and more, but needs half a millisecond of every run to study our types.
// So whatever this codec does not expect (a field of a later version, a file
// that was edited by hand, damage) makes it give up, and encoding/json decides.
type codec struct {
	writing bool
	text    []byte // writing: so far
	source  string // what is read
	at      int    // reading: where the next token is looked for
	depth   int    // writing: of objects and lists
	first   bool   // nothing stands before the next entry of its object or list
	odd     bool   // it gave up
}

// quickDecode reads a document, or reports that encoding/json has to.
func quickDecode(data []byte) (doc document, ok bool) {
	c := codec{source: string(data)}
	c.open('{')
	doc.fields(&c)
	c.close('}')
	return doc, !c.odd && c.next() == len(data)
}

// quickEncode writes what encoding/json would write with an indent of one, or
// reports that it would not write this.
func quickEncode(doc document) (data []byte, ok bool) {
	c := codec{writing: true, text: make([]byte, 0, 2048+callSize*len(doc.Calls)+transitionSize*len(doc.History))}
	c.open('{')
	doc.fields(&c)
	c.close('}')
	return append(c.text, '\n'), !c.odd
}

// field begins an entry of an object. Writing, it is there when present says
// so; reading, when it is what comes next.
func (c *codec) field(name string, present bool) bool {
	if c.writing {
		if present {
			c.separate()
			c.text = append(append(append(c.text, '"'), name...), `": `...)
		}
		return present
	}
	p := c.next()
	if !c.first {
		if p >= len(c.source) || c.source[p] != ',' {
			return false
		}
		p = skipSpace(c.source, p+1)
	}
	end := p + len(name) + 2
	if end > len(c.source) || c.source[p] != '"' || c.source[end-1] != '"' || c.source[p+1:end-1] != name {
		return false
	}
	c.at, c.first = end, false
	c.expect(':')
	return !c.odd
}

// entry begins an entry of a list, if there is one.
func (c *codec) entry(present bool) bool {
	if c.writing {
		if present {
			c.separate()
		}
		return present
	}
	p := c.next()
	if c.odd || p >= len(c.source) || c.source[p] == ']' {
		return false
	}
	if !c.first {
		c.expect(',')
	}
	c.first = false
	return !c.odd
}

// separate begins a line for the next entry.
func (c *codec) separate() {
	if !c.first {
		c.text = append(c.text, ',')
	}
	c.first = false
	c.indent()
}

func (c *codec) indent() {
	c.text = append(c.text, '\n')
	for range c.depth {
		c.text = append(c.text, ' ')
	}
}

func (c *codec) open(bracket byte) {
	if c.writing {
		c.text = append(c.text, bracket)
		c.depth++
	} else {
		c.expect(bracket)
	}
	c.first = true
}

func (c *codec) close(bracket byte) {
	if c.writing {
		c.depth--
		c.indent()
		c.text = append(c.text, bracket)
	} else {
		c.odd = c.odd || c.first // empty: we do not write that
		c.expect(bracket)
	}
	c.first = false
}

// next returns the position of the next token.
func (c *codec) next() int { return skipSpace(c.source, c.at) }

func skipSpace(text string, p int) int {
	for p < len(text) && (text[p] == ' ' || text[p] == '\n' || text[p] == '\t' || text[p] == '\r') {
		p++
	}
	return p
}

// expect takes one character.
func (c *codec) expect(char byte) {
	p := c.next()
	if p >= len(c.source) || c.source[p] != char {
		c.odd = true
		return
	}
	c.at = p + 1
}

// word takes a literal or a number.
func (c *codec) word() string {
	p := c.next()
	end := p
	for end < len(c.source) && c.source[end] > ' ' && c.source[end] != ',' && c.source[end] != '}' && c.source[end] != ']' {
		end++
	}
	c.at = end
	return c.source[p:end]
}

// quoted takes a string that needs no unescaping.
func (c *codec) quoted() string {
	c.expect('"')
	if c.odd {
		return ""
	}
	text, _, ended := strings.Cut(c.source[c.at:], `"`)
	if c.odd = !ended || !isVerbatim(text) && (strings.ContainsFunc(text, isEscaped) || !utf8.ValidString(text)); c.odd {
		return ""
	}
	c.at += len(text) + 1
	return text
}

// isVerbatim reports whether a text is ASCII of which JSON escapes nothing.
func isVerbatim(text string) bool {
	for i := range len(text) {
		if b := text[i]; b-' ' >= utf8.RuneSelf-' ' || b == '\\' {
			return false
		}
	}
	return true
}

// isEscaped reports whether a character begins an escape, or has to be one.
func isEscaped(r rune) bool { return r < ' ' || r == '\\' }

// quote writes a string that needs no escaping, or leaves it to encoding/json.
func (c *codec) quote(text string) {
	for i := range len(text) {
		if b := text[i]; b < ' ' || b == '"' || b == '\\' || b >= utf8.RuneSelf {
			whole, err := marshal(text)
			c.odd = c.odd || err != nil
			c.text = append(c.text, bytes.TrimSuffix(whole, []byte("\n"))...)
			return
		}
	}
	c.text = append(append(append(c.text, '"'), text...), '"')
}
