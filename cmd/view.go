package cmd

import (
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/term"

	"cb/internal/render"
	"cb/internal/store"
)

// views returns the circuits that names and globs select, all of them without
// any, and whether it is one that was asked for by its name. A name that was
// never seen and a glob that matches nothing are errors; an error within the
// sequence concerns one circuit.
func (env *Env) views(circuits inventory, args []string) (views iter.Seq2[render.View, error], alone bool, err error) {
	if !slices.ContainsFunc(args, isGlob) && len(args) > 0 {
		views, err = env.named(circuits, args)
		return views, len(args) == 1, err
	}
	known, err := circuits.Names()
	if err != nil {
		return nil, false, errors.New(cannotRead(circuits.Place(), err))
	}
	if len(args) == 0 {
		return listed(circuits, nil), false, nil
	}
	wanted := map[string]bool{}
	for _, arg := range args {
		picked, err := pick(known, arg, circuits.Place())
		if err != nil {
			return nil, false, err
		}
		for _, name := range picked {
			if !slices.Contains(known, name) {
				return nil, false, env.unknownCircuit(circuits, name)
			}
			wanted[name] = true
		}
	}
	return listed(circuits, wanted), len(args) == 1 && wanted[args[0]], nil
}

// named reads circuits by their names.
func (env *Env) named(circuits inventory, names []string) (iter.Seq2[render.View, error], error) {
	var all []render.View
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		view, err := env.view(circuits, name)
		if err != nil {
			return nil, err
		}
		all = append(all, view)
	}
	return func(yield func(render.View, error) bool) {
		for _, view := range all {
			if !yield(view, nil) {
				return
			}
		}
	}, nil
}

// listed reads the wanted circuits of the store, all of them when wanted is nil.
func listed(circuits inventory, wanted map[string]bool) iter.Seq2[render.View, error] {
	return func(yield func(render.View, error) bool) {
		for entry, err := range circuits.List() {
			if wanted != nil && !wanted[entry.Name] {
				continue
			}
			if err != nil {
				err = fmt.Errorf("cannot read %s (%s)", orElse(entry.Name, circuits.Place()), store.Cause(err))
			}
			view := render.View{Name: entry.Name, Circuit: entry.Circuit.Found(entry.Now), Now: entry.Now}
			if !yield(view, err) {
				return
			}
		}
	}
}

// view reads one circuit; a name that was never seen is an error.
func (env *Env) view(circuits inventory, name string) (render.View, error) {
	if err := store.CheckName(name); err != nil {
		return render.View{}, &usageError{err: err}
	}
	circuit, now, found, err := circuits.Read(name)
	if err != nil {
		return render.View{}, &usageError{err: errors.New(cannotRead(name, err)), hint: unreadHint(circuits, name, err)}
	}
	if !found {
		return render.View{}, env.unknownCircuit(circuits, name)
	}
	return render.View{Name: name, Circuit: circuit.Found(now), Now: now}, nil
}

// unreadHint says what becomes of a circuit that cannot be read, or "".
func unreadHint(circuits inventory, name string, err error) string {
	place := "it"
	if _, ok := circuits.(*store.Dir); ok {
		place = filepath.Join(circuits.Place(), store.FileName(name))
	}
	switch {
	case errors.Is(err, store.ErrForeign):
		return "another name, or a directory for circuits alone (--store), keeps them apart"
	case errors.Is(err, store.ErrCorrupt):
		return "the next run sets " + place + " aside and starts with a closed circuit"
	}
	return ""
}

// style is what stdout can show. NO_COLOR wins over CLICOLOR_FORCE, and that
// over what the terminal is. What captures the output, such as watch(1), may
// tell its width in COLUMNS.
func (env *Env) style() render.Style {
	fd := int(env.Stdout.Fd())
	terminal := term.IsTerminal(fd)
	style := render.Style{Colour: terminal && env.getenv("TERM") != "dumb" && env.getenv("CLICOLOR") != "0"}
	if force := env.getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		style.Colour = true
	}
	if env.getenv("NO_COLOR") != "" {
		style.Colour = false
	}
	if terminal {
		style.Width, _, _ = term.GetSize(fd)
	} else if columns, err := strconv.Atoi(env.getenv("COLUMNS")); err == nil {
		style.Width = max(0, columns)
	}
	return style
}
