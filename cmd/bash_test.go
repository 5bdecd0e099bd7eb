package cmd

import (
	"slices"
	"testing"
)

func TestBashWords(t *testing.T) {
	const breaks = " \t\n\"'><=;|&(:"
	for _, test := range []struct {
		line  string
		words []string
		last  bashWord
	}{
		{"cb", nil, bashWord{text: "cb"}},
		{"cb ", nil, bashWord{}},
		{"cb status a", []string{"status"}, bashWord{text: "a"}},
		{"A=1 B= cb status a", []string{"status"}, bashWord{text: "a"}},
		{`cb  status 'it'\''s' "two words" x`, []string{"status", "it's", "two words"}, bashWord{text: "x"}},
		{"cb status ''", []string{"status"}, bashWord{}},
		{"cb status '' ", []string{"status", ""}, bashWord{}},
		{`cb status "a $x \" \n`, []string{"status"}, bashWord{text: `a $x " \n`, quote: '"'}},
		{`cb status 'a\`, []string{"status"}, bashWord{text: `a\`, quote: '\''}},
		{`cb status two\ w`, []string{"status"}, bashWord{text: "two w"}},
		{"cb run --name=a", []string{"run"}, bashWord{text: "--name=a", before: 7}},
		{"cb run --name='a b", []string{"run"}, bashWord{text: "--name=a b", before: 7, quote: '\''}},
		{"cb status ns:a:b", []string{"status"}, bashWord{text: "ns:a:b", before: 5}},
		{`cb status "ns:"a`, []string{"status"}, bashWord{text: "ns:a"}},
		{`cb status ns\:a`, []string{"status"}, bashWord{text: "ns:a"}},
		{"cb status デプ", []string{"status"}, bashWord{text: "デプ"}},
	} {
		words, last := bashWords(test.line, breaks)
		if !slices.Equal(words, test.words) || last != test.last {
			t.Errorf("%s: %q %+v, want %q %+v", test.line, words, last, test.words, test.last)
		}
	}
}
