package store

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"cb/internal/breaker"
)

// Every field that encoding/json writes is written by the codec, in the same
// way, and read back: a field that somebody adds to a type and forgets in
// fields.go fails here.
func TestCodecAgreesWithTheTags(t *testing.T) {
	full := document{}
	n := 0
	populate(t, reflect.ValueOf(&full).Elem(), &n)
	full.Schema = schema
	for what, doc := range map[string]document{
		"zero":       {},
		"full":       full,
		"odd names":  {Schema: schema, Name: "näme \"q\" <&> \u2028 \x01 \\", Circuit: breaker.Circuit{Reason: "日本"}},
		"no history": {Schema: schema, Name: "x", Circuit: breaker.Circuit{Calls: full.Calls}},
	} {
		want, err := marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := quickEncode(doc)
		if !ok || !bytes.Equal(got, want) {
			t.Errorf("%s: codec writes\n%s\nencoding/json writes\n%s", what, got, want)
		}
		if back, ok := quickDecode(want); what != "odd names" && (!ok || !reflect.DeepEqual(back, doc)) {
			t.Errorf("%s: codec reads (%v)\n%+v\nwant\n%+v", what, ok, back, doc)
		}
	}
}

// populate puts something other than zero into every field, as deep as they go.
func populate(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	switch at := v.Addr().Interface().(type) {
	case *time.Time:
		*at = time.Date(2026, 3, 1, 14, 0, 0, *n*1000, time.UTC)
		return
	case *breaker.State:
		*at = breaker.HalfOpen
		return
	case *breaker.Call:
		*at = breaker.Call{At: time.Date(2026, 3, 1, 14, 0, *n%60, 0, time.UTC), Outcome: breaker.Slow, Code: *n, Took: 914750}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				populate(t, v.Field(i), n)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		populate(t, v.Index(0), n)
		populate(t, v.Index(1), n)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		populate(t, v.Elem(), n)
	case reflect.String:
		v.SetString("text µ " + string(rune('a'+*n%26)))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(-*n))
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Float64:
		v.SetFloat(1.25)
	case reflect.Bool:
		v.SetBool(true)
	default:
		t.Fatalf("no value for a %v", v.Type())
	}
}

// What the codec does not expect it leaves to encoding/json.
func TestCodecGivesUp(t *testing.T) {
	text, _ := quickEncode(document{Schema: schema, Name: "x"})
	good := string(text)
	for _, edit := range [][2]string{
		{`"name"`, `"Name"`},
		{`"schema": 1`, `"schema": 1.0`},
		{`"schema": 1`, `"schema": 01`},
		{`"schema": 1`, `"schema": 99999999999999999999`},
		{`"schema": 1`, `"schema": null`},
		{`"x"`, `"\u0078"`},
		{`"x"`, "\"\xff\""},
		{`"totals": {`, `"later": 1, "totals": {`},
		{`"streak": 0,`, `"streak": 0, "streak": 0,`},
		{`"closed"`, `"ajar"`},
		{"}\n", "}\n}"},
		{"}\n", ""},
	} {
		bad := bytes.Replace([]byte(good), []byte(edit[0]), []byte(edit[1]), 1)
		if bytes.Equal(bad, []byte(good)) {
			t.Fatalf("nothing to edit: %s", edit[0])
		}
		if edit[0] == "}\n" {
			bad = append(bytes.TrimSuffix([]byte(good), []byte(edit[0])), edit[1]...)
		}
		if doc, ok := quickDecode(bad); ok {
			t.Errorf("%s → %s: read as %+v", edit[0], edit[1], doc)
		}
	}
}

// FuzzCodec holds the codec against encoding/json: what it reads the other
// reads too, and alike.
func FuzzCodec(f *testing.F) {
	full, n := document{}, 0
	populate(&testing.T{}, reflect.ValueOf(&full).Elem(), &n)
	for _, doc := range []document{full, {Schema: schema, Name: "x"}} {
		seed, _ := quickEncode(doc)
		f.Add(seed)
	}
	f.Add([]byte(`{"schema":1,"name":"x","clock":{"wall":"2026-03-01T14:00:00Z"},"state":"open","calls":["2026-03-01T14:00:00Z success 0 1s"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		quick, ok := quickDecode(data)
		if !ok {
			return
		}
		var slow document
		if err := json.Unmarshal(data, &slow); err != nil {
			t.Fatalf("encoding/json does not read %q: %v", data, err)
		}
		if !reflect.DeepEqual(quick, slow) {
			t.Fatalf("%q\ncodec         %+v\nencoding/json %+v", data, quick, slow)
		}
		again, err := marshal(slow)
		if text, ok := quickEncode(quick); ok && (err != nil || !bytes.Equal(again, text)) {
			t.Fatalf("written differently (%v)\n%s\n%s", err, text, again)
		}
	})
}
