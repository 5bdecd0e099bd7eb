package store

import (
	"strconv"
	"time"

	"cb/internal/breaker"
)

// object describes a field that is an object.
func (c *codec) object(name string, present bool, fields func(*codec)) {
	if c.field(name, present) {
		c.open('{')
		fields(c)
		c.close('}')
	}
}

// How many bytes the text of an entry takes, more or less.
const (
	ticketSize     = 20
	callSize       = 50
	probeSize      = 200
	transitionSize = 300
)

// list describes a field that is a list; an empty one is left out. The size of
// an entry's text is for guessing how many there are.
func list[T any](c *codec, name string, entries *[]T, size int, describe func(*codec, *T)) {
	if !c.field(name, len(*entries) > 0) {
		return
	}
	if !c.writing {
		*entries = make([]T, 0, min((len(c.source)-c.at)/size+1, breaker.MaxOutcomes))
	}
	c.open('[')
	for i := 0; c.entry(i < len(*entries)); i++ {
		if !c.writing {
			var entry T
			*entries = append(*entries, entry)
		}
		describe(c, &(*entries)[i])
	}
	c.close(']')
}

// Whether a field of the value zero is written.
const (
	omitZero = true
	keepZero = false
)

// number describes a field that is a whole number.
func number[T ~int | ~int64 | ~uint64](c *codec, name string, n *T, omit bool) {
	switch {
	case !c.field(name, !omit || *n != 0):
	case c.writing:
		c.text = strconv.AppendInt(c.text, int64(*n), 10)
	default:
		word := c.word()
		read, err := strconv.ParseInt(word, 10, 64)
		*n = T(read)
		c.odd = c.odd || err != nil || int64(*n) != read || *n < 0 && read > 0 || strconv.FormatInt(read, 10) != word
	}
}

// text describes a field that is a string.
func text[T ~string](c *codec, name string, s *T, omit bool) {
	switch {
	case !c.field(name, !omit || *s != ""):
	case c.writing:
		c.quote(string(*s))
	default:
		*s = T(c.quoted())
	}
}

// instant describes a field that is a time.
func instant(c *codec, name string, t *time.Time, omit bool) {
	switch {
	case !c.field(name, !omit || !t.IsZero()):
	case c.writing:
		c.text = append(t.AppendFormat(append(c.text, '"'), time.RFC3339Nano), '"')
		c.odd = c.odd || t.Year() < 0 || t.Year() > 9999 // RFC 3339 cannot say it
	default:
		written := c.quoted()
		read, err := time.Parse(time.RFC3339Nano, written)
		*t = read
		c.odd = c.odd || err != nil || read.Format(time.RFC3339Nano) != written
	}
}

// float describes a field that is a number, 0 when it is left out.
func float(c *codec, name string, f *float64) {
	switch {
	case !c.field(name, *f != 0):
	case c.writing:
		c.text = strconv.AppendFloat(c.text, *f, 'f', -1, 64)
		c.odd = c.odd || !(*f > 1e-6 && *f < 1e21) // written otherwise, or not a number
	default:
		word := c.word()
		read, err := strconv.ParseFloat(word, 64)
		*f = read
		c.odd = c.odd || err != nil || strconv.FormatFloat(read, 'f', -1, 64) != word
	}
}

// flag describes a field that is there when it is true.
func flag(c *codec, name string, b *bool) {
	switch {
	case !c.field(name, *b):
	case c.writing:
		c.text = append(c.text, "true"...)
	default:
		*b = c.word() == "true"
		c.odd = c.odd || !*b
	}
}

// state describes a field that is the word for a state.
func state(c *codec, name string, s *breaker.State) {
	switch {
	case !c.field(name, true):
	case c.writing:
		c.quote(s.String())
	default:
		c.odd = s.UnmarshalText([]byte(c.quoted())) != nil || c.odd
	}
}

// call describes one kept outcome, which is a line of words.
func call(c *codec, one *breaker.Call) {
	if c.writing {
		c.text, _ = one.AppendText(append(c.text, '"'))
		c.text = append(c.text, '"')
		return
	}
	read, err := breaker.ParseCall(c.quoted())
	*one = read
	c.odd = c.odd || err != nil
}

// optionalCall describes a field that is a call, or left out.
func optionalCall(c *codec, name string, one **breaker.Call) {
	if !c.field(name, *one != nil) {
		return
	}
	if !c.writing {
		*one = &breaker.Call{}
	}
	call(c, *one)
}
