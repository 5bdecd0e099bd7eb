package cmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"golang.org/x/term"

	"cb/internal/process"
)

// resizeLook is how often a watch looks whether the terminal has another size.
const resizeLook = 200 * time.Millisecond

// The sequences that every terminal of the last forty years knows.
const (
	screenOpen  = "\x1b[?1049h\x1b[?25l" // the other screen, no cursor
	screenClose = "\x1b[?25h\x1b[?1049l" // as it was
	cursorHome  = "\x1b[H"
	clearToEnd  = "\x1b[K" // of the line
	clearBelow  = "\x1b[J"
)

// watch shows what draw writes again and again until a stop signal comes. On a
// terminal it redraws in place and leaves the screen as it was; elsewhere the
// pictures follow each other, divided by an empty line.
func (env *Env) watch(every time.Duration, draw func(w io.Writer) error) error {
	signals := process.Catch()
	defer signals.Close()
	if !term.IsTerminal(int(env.Stdout.Fd())) {
		return env.watchPlain(signals.Context(), every, draw)
	}
	if _, err := io.WriteString(env.Stdout, screenOpen); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	defer io.WriteString(env.Stdout, screenClose) //nolint:errcheck // there is nobody to tell
	for {
		size := env.size()
		if err := env.redraw(size, draw); err != nil {
			return err
		}
		if !env.pause(signals.Context(), every, size) {
			return nil
		}
	}
}

// screen is a terminal's size, in characters.
type screen struct{ columns, lines int }

func (env *Env) size() screen {
	columns, lines, err := term.GetSize(int(env.Stdout.Fd()))
	if err != nil {
		return screen{}
	}
	return screen{columns, lines}
}

// redraw writes one picture in one piece, over the last one, so that nothing
// flickers. What does not fit is counted.
func (env *Env) redraw(size screen, draw func(w io.Writer) error) error {
	var picture, frame bytes.Buffer
	if err := draw(&picture); err != nil {
		return err
	}
	lines := bytes.Split(bytes.TrimSuffix(picture.Bytes(), []byte("\n")), []byte("\n"))
	if most := size.lines - 1; most > 1 && len(lines) > most {
		rest := fmt.Sprintf("... and %d more", len(lines)-most+1)
		lines = append(lines[:most-1], []byte(rest))
	}
	frame.WriteString(cursorHome)
	for _, line := range lines {
		frame.Write(line)
		frame.WriteString(clearToEnd + "\r\n")
	}
	frame.WriteString(clearBelow)
	if _, err := env.Stdout.Write(frame.Bytes()); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	return nil
}

// pause waits for the next picture: after the interval, or when the terminal
// has been resized. It returns false when it is time to stop.
func (env *Env) pause(ctx context.Context, every time.Duration, size screen) bool {
	next := time.NewTimer(every)
	defer next.Stop()
	look := time.NewTicker(resizeLook)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-next.C:
			return true
		case <-look.C:
			if env.size() != size {
				return true
			}
		}
	}
}

func (env *Env) watchPlain(ctx context.Context, every time.Duration, draw func(w io.Writer) error) error {
	next := time.NewTicker(every)
	defer next.Stop()
	for {
		if err := draw(env.Stdout); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-next.C:
		}
		if _, err := io.WriteString(env.Stdout, "\n"); err != nil {
			return fmt.Errorf("draw: %w", err)
		}
	}
}
