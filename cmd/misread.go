package cmd

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"cb/internal/breaker"
)

// misread finds what the flag package takes otherwise than it was meant: "--"
// as the value that a flag lacks, and the value of a flag that needs none as
// the command.
func (r *run) misread(fs *pflag.FlagSet) error {
	before := r.env.Args[:max(0, len(r.env.Args)-len(r.args))]
	for i, word := range before {
		if f := flagOf(fs, word); f != nil && f.NoOptDefVal == "" && i+1 < len(before) && before[i+1] == "--" {
			return &usageError{err: fmt.Errorf("%s: needs a value", word), hint: "a value of -- goes with an equals sign: " + word + "=--"}
		}
	}
	if len(before) == 0 || len(r.args) == 0 {
		return nil
	}
	last, word := before[len(before)-1], r.args[0]
	f := flagOf(fs, last)
	if f == nil || f.NoOptDefVal == "" {
		return nil
	}
	_, err := breaker.ParseDuration(word)
	if err == nil || len(r.args) > 1 && r.args[1] == "--" && isPlainValue(word) {
		return &usageError{err: fmt.Errorf("the command to run is %q, the word after %s", word, last), hint: "its value goes with an equals sign: " + last + "=" + word}
	}
	return nil
}

// flagOf returns the flag that a word names, nil when the word holds a value too
// or is something else.
func flagOf(fs *pflag.FlagSet, word string) *pflag.Flag {
	if name, ok := strings.CutPrefix(word, "--"); ok {
		return fs.Lookup(name)
	}
	if name, ok := strings.CutPrefix(word, "-"); ok && len(name) == 1 {
		return fs.ShorthandLookup(name)
	}
	return nil
}

// isPlainValue reports whether a word is a number or a truth value.
func isPlainValue(word string) bool {
	_, err := strconv.ParseFloat(word, 64)
	_, truth := strconv.ParseBool(word)
	return err == nil || truth == nil
}
