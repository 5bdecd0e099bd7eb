package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"cb/internal/process"
	"cb/internal/render"
)

// resizeLook is how often a watch looks whether the terminal has another size.
const resizeLook = 200 * time.Millisecond

// The sequences that every terminal of the last forty years knows.
const (
	screenOpen  = "\x1b[?1049h\x1b[?25l\x1b[?7l" // the other screen, no cursor, no wrapped lines
	screenClose = "\x1b[?7h\x1b[?25h\x1b[?1049l" // as it was
	cursorHome  = "\x1b[H"
	clearToEnd  = "\x1b[K" // of the line
	clearBelow  = "\x1b[J"
)

// The keys of a watch. A terminal in raw mode sends them as they are.
const (
	keyInterrupt = 'c' & 0x1f
	keyEnd       = 'd' & 0x1f
	keySuspend   = 'z' & 0x1f
	keyQuit      = 'q'
)

// watch shows what draw writes again and again until a key or a stop signal
// comes. On a terminal it redraws in place and leaves the screen as it was;
// elsewhere the pictures follow each other, divided by an empty line. ^C is the
// usual end and no failure; cb dies of any other stop signal.
func (env *Env) watch(every time.Duration, draw func(picture) error) error {
	signals := process.Catch()
	defer signals.Close()
	look := env.watchPlain
	if term.IsTerminal(int(env.Stdout.Fd())) && env.getenv("TERM") != "dumb" {
		look = env.watchInPlace
	}
	if err := look(signals.Context(), every, draw); err != nil {
		return err
	}
	if stopped := signals.Stopped(); stopped != 0 && stopped != syscall.SIGINT {
		return &exit{code: 128 + int(stopped), signal: stopped}
	}
	return nil
}

func (env *Env) watchInPlace(ctx context.Context, every time.Duration, draw func(picture) error) error {
	// What is wrong from the start is told on the screen that stays.
	if err := draw(picture{io.Discard, func(string) {}}); err != nil {
		return err
	}
	w := &watch{env: env, every: every, draw: draw, keys: make(chan byte)}
	if err := w.open(); err != nil {
		return err
	}
	go w.readKeys()
	return errors.Join(w.loop(ctx), w.close())
}

// watch is a picture that is redrawn in place.
type watch struct {
	env    *Env
	every  time.Duration
	draw   func(picture) error
	cooked *term.State // how the terminal's input was; nil: it is none
	keys   chan byte
}

// open takes the screen, and the keyboard when stdin is one.
func (w *watch) open() error {
	if in := int(w.env.Stdin.Fd()); term.IsTerminal(in) {
		w.cooked, _ = term.MakeRaw(in) // without it ^C still works
	}
	return w.write(screenOpen)
}

// close leaves everything as it was.
func (w *watch) close() error {
	err := w.write(screenClose)
	if w.cooked != nil {
		err = errors.Join(err, term.Restore(int(w.env.Stdin.Fd()), w.cooked))
	}
	return err
}

func (w *watch) write(text string) error {
	if _, err := io.WriteString(process.Writer(w.env.Stdout), text); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	return nil
}

// readKeys passes on what is typed. It ends with the process, or with stdin.
func (w *watch) readKeys() {
	if w.cooked == nil {
		return
	}
	typed := make([]byte, 1)
	for {
		if n, err := w.env.Stdin.Read(typed); err != nil || n == 0 {
			return
		}
		w.keys <- typed[0]
	}
}

func (w *watch) loop(ctx context.Context) error {
	for {
		size := w.size()
		if err := w.redraw(size); err != nil {
			return err
		}
		switch w.pause(ctx, size) {
		case keyInterrupt:
			return nil
		case keySuspend:
			if err := w.close(); err != nil {
				return err
			}
			process.Suspend()
			if err := w.open(); err != nil {
				return err
			}
		}
	}
}

// screen is a terminal's size, in characters; zero is unknown.
type screen struct{ columns, lines int }

func (w *watch) size() screen {
	columns, lines, err := term.GetSize(int(w.env.Stdout.Fd()))
	if err != nil {
		return screen{}
	}
	return screen{columns, lines}
}

// redraw writes one picture in one piece, over the last one, so that nothing
// flickers. What does not fit is counted; trouble is part of the picture.
func (w *watch) redraw(size screen) error {
	var shown, warnings, frame bytes.Buffer
	warn := func(message string) { fmt.Fprintf(&warnings, "cb: warning: %s\n", render.Safe(message)) }
	if err := w.draw(picture{&shown, warn}); err != nil {
		warn(err.Error())
	}
	end := "^C"
	if w.cooked != nil {
		end = "q"
	}
	foot := append(splitLines(warnings.String()), "", fmt.Sprintf("every %s, last at %s; %s ends",
		duration{&w.every}, w.env.Clock().Wall.Local().Format(time.TimeOnly), end))
	body := splitLines(shown.String())
	if most := max(2, size.lines-1-len(foot)); size.lines > 0 && len(body) > most {
		body = append(body[:most-1], fmt.Sprintf("... and %d more", len(body)-most+1))
	}
	frame.WriteString(cursorHome)
	for _, line := range append(body, foot...) {
		frame.WriteString(line + clearToEnd + "\r\n")
	}
	frame.WriteString(clearBelow)
	return w.write(frame.String())
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// pause waits for the next picture: after the interval, or when the terminal
// has been resized. It returns the key that was typed, if it has a meaning.
func (w *watch) pause(ctx context.Context, size screen) byte {
	next := time.NewTimer(w.every)
	defer next.Stop()
	look := time.NewTicker(resizeLook)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return keyInterrupt
		case key := <-w.keys:
			switch key {
			case keyQuit, keyInterrupt, keyEnd:
				return keyInterrupt
			case keySuspend:
				return keySuspend
			}
		case <-next.C:
			return 0
		case <-look.C:
			if w.size() != size {
				return 0
			}
		}
	}
}

func (env *Env) watchPlain(ctx context.Context, every time.Duration, draw func(picture) error) error {
	next := time.NewTicker(every)
	defer next.Stop()
	for {
		if err := draw(picture{process.Writer(env.Stdout), env.warn}); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-next.C:
		}
		if _, err := io.WriteString(process.Writer(env.Stdout), "\n"); err != nil {
			return fmt.Errorf("draw: %w", err)
		}
	}
}
