package classify

import (
	"bytes"
	"fmt"
	"regexp"
)

// A line is judged whole up to maxLine bytes. A longer one is judged in pieces
// of that size that overlap, so that memory stays bounded; a match longer than
// the overlap can be missed there, and ^ and $ also match at a piece's ends.
const (
	maxLine = 64 << 10
	overlap = 4 << 10
)

// Pattern is a regular expression (RE2) for one line of output. The zero value
// matches nothing. It is a flag value.
type Pattern struct{ re *regexp.Regexp }

// Given reports whether there is a pattern.
func (p *Pattern) Given() bool { return p.re != nil }

// String returns the expression as it was set.
func (p *Pattern) String() string {
	if p.re == nil {
		return ""
	}
	return p.re.String()
}

// Set compiles an expression; the empty one would match everything, which
// nobody means.
func (p *Pattern) Set(text string) error {
	if text == "" {
		return fmt.Errorf("must not be empty")
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return fmt.Errorf("%q is not a regular expression (RE2): %w", text, err)
	}
	p.re = re
	return nil
}

// Type names the value in help.
func (p *Pattern) Type() string { return "RE" }

// Matches is what the output rules found.
type Matches struct{ Failure, Ignore bool }

// Or returns what was found in either of two streams.
func (m Matches) Or(other Matches) Matches {
	return Matches{m.Failure || other.Failure, m.Ignore || other.Ignore}
}

// Scanner looks for the output rules in one stream, line by line; the ends of
// lines are not part of them. Its Write never fails.
type Scanner struct {
	rules Rules
	found Matches
	line  []byte // what is known of the line that has not ended
}

// NewScanner returns a scanner for the output rules.
func (r Rules) NewScanner() *Scanner { return &Scanner{rules: r} }

// Reads reports whether there is any output rule.
func (r Rules) Reads() bool { return r.FailureOutput.Given() || r.IgnoreOutput.Given() }

// Write judges the lines that end in p and keeps the rest.
func (s *Scanner) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 && !s.done() {
		end := bytes.IndexByte(p, '\n')
		switch {
		case end >= 0 && len(s.line) == 0 && end <= maxLine:
			s.judge(p[:end])
			p = p[end+1:]
		case end >= 0 && len(s.line)+end <= maxLine:
			s.line = append(s.line, p[:end]...)
			s.judge(s.line)
			s.line = s.line[:0]
			p = p[end+1:]
		default:
			part := min(len(p), maxLine-len(s.line))
			s.line = append(s.line, p[:part]...)
			p = p[part:]
			if len(s.line) == maxLine {
				s.judge(s.line)
				s.line = append(s.line[:0], s.line[maxLine-overlap:]...)
			}
		}
	}
	return n, nil
}

// Found judges the last line, if it has not ended, and returns what was found.
func (s *Scanner) Found() Matches {
	if len(s.line) > 0 {
		s.judge(s.line)
		s.line = nil
	}
	return s.found
}

func (s *Scanner) judge(line []byte) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	s.found.Failure = s.found.Failure || s.rules.FailureOutput.Given() && s.rules.FailureOutput.re.Match(line)
	s.found.Ignore = s.found.Ignore || s.rules.IgnoreOutput.Given() && s.rules.IgnoreOutput.re.Match(line)
}

// done reports whether nothing more can be learnt.
func (s *Scanner) done() bool {
	return (s.found.Failure || !s.rules.FailureOutput.Given()) && (s.found.Ignore || !s.rules.IgnoreOutput.Given())
}
