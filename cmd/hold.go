package cmd

import (
	"io"

	"cb/internal/process"
)

// stdout stands between the command's standard output and cb's when a fallback
// or the cache needs it. It keeps up to limit bytes. While it holds, nothing
// goes out until Release, so that a reader never gets half an answer and then
// a fallback's; beyond the limit everything is let through after all.
type stdout struct {
	out   io.Writer
	limit int
	hold  bool

	kept []byte
	over bool // more than limit came: nothing is kept any more
}

func (s *stdout) Write(p []byte) (int, error) {
	if !s.over && len(p) > s.limit-len(s.kept) {
		s.over = true
		if s.hold {
			s.hold = false
			if _, err := s.out.Write(s.kept); err != nil {
				return 0, err //nolint:wrapcheck // it stands for out
			}
		}
		s.kept = nil
	}
	if !s.over {
		s.kept = append(s.kept, p...)
		if s.hold {
			return len(p), nil
		}
	}
	return s.out.Write(p) //nolint:wrapcheck // it stands for out
}

// release lets out what is held. That nobody reads it any more is no error.
func (s *stdout) release() error {
	if !s.hold {
		return nil
	}
	s.hold = false
	return pass(s.out, s.kept)
}

// pass writes what stands for a command's output. A reader that has gone away
// has what it wanted.
func pass(out io.Writer, text []byte) error {
	if len(text) == 0 {
		return nil // to write nothing fails on a full device too
	}
	_, err := out.Write(text)
	if process.ReaderGone(err) {
		return nil
	}
	return err //nolint:wrapcheck // the caller says what it was writing
}
