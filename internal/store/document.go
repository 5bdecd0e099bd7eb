package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"cb/internal/breaker"
)

// schema is the version of the document that this code writes.
const schema = 1

// documentStart is how a document begins, unless it has unknown fields.
const documentStart = "{\n \"schema\": 1,"

// maxDocument is the largest document that is read or written, in bytes.
// Circuits stay well below a quarter of it.
const maxDocument = 1 << 20

// document is what is stored for a circuit.
type document struct {
	Schema int     `json:"schema"`
	Name   string  `json:"name"` // the true one; file names may have to differ
	Clock  Reading `json:"clock"`
	Write  uint64  `json:"write,omitempty"` // tells this writing of the document from any other; below 2^53
	breaker.Circuit
}

// snapshot is a circuit as it was stored.
type snapshot struct {
	circuit breaker.Circuit
	clock   Reading // when it was written
	found   bool    // false: nothing is stored, the circuit is the zero one
	write   uint64  // of the document
	refused int     // refusals counted beside the document, and in circuit already
	other   bool    // the count beside the document goes with another writing
	// uncounted is why the refusals counted beside the document, if any, are
	// not known.
	uncounted error
	// unknown is the whole document when it has fields that this version does
	// not know, so that they survive a rewrite.
	unknown []byte
}

// decode reads exactly one document and checks that it can be the circuit of
// that name. Its error is ErrNewer or tells the damage.
func decode(data []byte, name string) (snapshot, error) {
	if doc, ok := quickDecode(data); ok && doc.Schema == schema {
		return doc.check(name)
	}
	var doc document
	if err := json.Unmarshal(data, &doc); err != nil || doc.Schema != schema {
		return snapshot{}, explain(data, err)
	}
	return doc.check(name)
}

// explain tells, in words for people, why a document is not one of ours. A
// newer schema need not have our types, so its number is looked for first.
func explain(data []byte, err error) error {
	var head map[string]json.RawMessage
	var number int
	switch wrong := json.Unmarshal(data, &head); {
	case len(bytes.Trim(data, " \t\r\n\x00")) == 0:
		return errors.New("it is empty")
	case !json.Valid(data):
		return errors.New("it is cut short or no JSON")
	case wrong != nil || len(head) == 0:
		return errors.New("it is no document of a circuit")
	}
	stated, known := head["schema"]
	switch {
	case !known && !holdsKey(head, "schema"):
		return ErrForeign
	case json.Unmarshal(stated, &number) != nil:
		return errors.New("its schema is no number")
	case number > schema:
		return ErrNewer
	case number != schema:
		return fmt.Errorf("unknown schema %d", number)
	}
	return plain(err)
}

// plain says without the words of Go why a value cannot be read.
func plain(err error) error {
	var kind *json.UnmarshalTypeError
	var instant *time.ParseError
	var count *strconv.NumError
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Errorf("%s has a value of the wrong type", strings.TrimPrefix(kind.Field, "Circuit."))
	case errors.As(err, &instant):
		return fmt.Errorf("%s is no instant", instant.Value)
	case errors.As(err, &count):
		return fmt.Errorf("%q is no number", count.Num)
	}
	return err
}

// holdsKey finds a key as the decoder does, which takes upper for lower case.
func holdsKey(object map[string]json.RawMessage, key string) bool {
	for have := range object {
		if strings.EqualFold(have, key) {
			return true
		}
	}
	return false
}

// decodeToReplace is decode for a document that will be written again: it
// notices fields that this version does not know.
func decodeToReplace(data []byte, name string) (snapshot, error) {
	if doc, ok := quickDecode(data); ok && doc.Schema == schema {
		return doc.check(name)
	}
	var doc document
	if err := decodeStrict(data, &doc); err == nil && doc.Schema == schema {
		return doc.check(name)
	}
	s, err := decode(data, name)
	s.unknown = data
	return s, err
}

// check returns the circuit if it can be the one of that name.
func (doc document) check(name string) (snapshot, error) {
	if doc.Name != name {
		return snapshot{}, isAnother(doc.Name)
	}
	if err := doc.Validate(); err != nil {
		return snapshot{}, err
	}
	return snapshot{circuit: doc.Circuit, clock: doc.Clock, found: true, write: doc.Write}, nil
}

func isAnother(name string) error {
	if name == "" {
		return errors.New("it names no circuit")
	}
	return fmt.Errorf("it is the circuit %q", name)
}

// decodeStrict fails at fields that the document does not have, and at
// anything that follows it.
func decodeStrict(data []byte, doc *document) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(doc); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("data after the document")
	}
	return nil
}

// decodeName reads the name and nothing else.
func decodeName(data []byte) (string, error) {
	var head struct {
		Name string `json:"name"`
	}
	err := json.Unmarshal(data, &head)
	return head.Name, err
}

// encode writes a document. Unknown fields of the snapshot that it replaces are
// kept.
func encode(doc document, old snapshot) (data []byte, err error) {
	doc.Schema = schema
	data, ok := quickEncode(doc)
	if !ok {
		data, err = marshal(doc)
	}
	if err == nil && old.unknown != nil {
		data, err = keepUnknown(old.unknown, data)
	}
	if err == nil && len(data) > maxDocument {
		err = fmt.Errorf("it would be larger than %d bytes", maxDocument)
	}
	return data, err
}

// sameCircuit reports whether two circuits would be stored alike. What is long
// and easy to compare is not written out for it.
func sameCircuit(a, b breaker.Circuit) bool {
	if a.Totals != b.Totals || !slices.Equal(a.Calls, b.Calls) || !slices.Equal(a.History, b.History) {
		return false
	}
	a.Calls, b.Calls, a.History, b.History = nil, nil, nil, nil
	first, ok := quickEncode(document{Circuit: a})
	second, also := quickEncode(document{Circuit: b})
	return ok && also && bytes.Equal(first, second)
}

// marshal writes JSON for people to read: reasons and names often have quotes
// and angle brackets.
func marshal(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	err := encoder.Encode(value)
	return text.Bytes(), err
}
