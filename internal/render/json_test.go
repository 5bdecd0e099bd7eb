package render

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestEveryKeyIsAlwaysThere compares the keys of all stories, of which some
// have nothing to say.
func TestEveryKeyIsAlwaysThere(t *testing.T) {
	var want []string
	for _, view := range stories() {
		text, err := json.Marshal(view.json())
		if err != nil {
			t.Fatal(err)
		}
		var object map[string]any
		if err := json.Unmarshal(text, &object); err != nil {
			t.Fatal(err)
		}
		got := keys("", object)
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has the keys %q, want %q", view.Name, got, want)
		}
	}
}

// keys returns the paths of an object's members, but not of what may be null
// or empty.
func keys(at string, object map[string]any) []string {
	var all []string
	for key, value := range object {
		all = append(all, at+key)
		if inner, ok := value.(map[string]any); ok && key != "override" && key != "last_failure" {
			all = append(all, keys(at+key+".", inner)...)
		}
	}
	slices.Sort(all)
	return all
}

// TestJSONIsDocumented finds every key of the schema in its page, and every
// key of the page in the schema.
func TestJSONIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/status-json.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, "`"); strings.HasPrefix(line, "| `") && len(cells) > 2 {
			documented = append(documented, cells[1])
		}
	}
	slices.Sort(documented)
	schema := append(members("", reflect.TypeFor[statusJSON]()), members("history.", reflect.TypeFor[transitionJSON]())...)
	slices.Sort(schema)
	if !slices.Equal(documented, schema) {
		t.Errorf("docs/status-json.md has the keys\n%s\nwant\n%s", strings.Join(documented, "\n"), strings.Join(schema, "\n"))
	}
}

// members returns the paths of a schema's keys; those in a list have [].
func members(at string, of reflect.Type) []string {
	var all []string
	for i := range of.NumField() {
		field := of.Field(i)
		inner, list := field.Type, ""
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			if inner.Kind() == reflect.Slice {
				list = "[]"
			}
			inner = inner.Elem()
		}
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous {
			all = append(all, members(at, inner)...)
			continue
		}
		all = append(all, at+key)
		if inner.Kind() == reflect.Struct && inner != reflect.TypeFor[time.Time]() {
			all = append(all, members(at+key+list+".", inner)...)
		}
	}
	return all
}
