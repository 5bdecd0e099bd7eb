package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/txtar"
)

// Mutant is one way to break the source.
type Mutant struct {
	Name     string   // LIST/SECTION
	Meaning  string   // what the broken program does
	Test     []string // arguments of the go test that must fail
	File     string   // from the root of the module
	Old, New string   // the text that is there exactly once, and what takes its place
}

// ReadLists reads all lists of a module. The error names what is wrong.
func ReadLists(root string) ([]Mutant, error) {
	files, err := filepath.Glob(filepath.Join(root, "testdata", "mutants", "*.txtar"))
	if err != nil {
		return nil, err
	}
	var all []Mutant
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		mutants, err := ReadList(strings.TrimSuffix(filepath.Base(file), ".txtar"), data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, mutants...)
	}
	return all, nil
}

// ReadList reads a list: a text, in which a line that begins with "go test"
// is the command that must fail, and a section for each mutant:
//
//	-- NAME --
//	what the broken program does, in one line
//	internal/breaker/policy.go
//	-the old text, which is there exactly once
//	+the new text
//
// Both texts may have several lines, and need not be whole lines. A mutant may
// bring its own "go test" line, before that of its file.
func ReadList(list string, data []byte) ([]Mutant, error) {
	archive := txtar.Parse(data)
	var common []string
	for line := range strings.Lines(string(archive.Comment)) {
		if arguments, ok := strings.CutPrefix(line, "go test "); ok {
			common = strings.Fields(arguments)
		}
	}
	var mutants []Mutant
	seen := map[string]bool{}
	for _, section := range archive.Files {
		m, err := readMutant(string(section.Data))
		if err == nil && m.Test == nil {
			m.Test = common
		}
		switch {
		case err != nil:
		case m.Test == nil:
			err = fmt.Errorf("no line says what to test: go test ./internal/…")
		case seen[section.Name]:
			err = fmt.Errorf("it is there twice")
		}
		if err != nil {
			return nil, fmt.Errorf("mutant %s: %w", section.Name, err)
		}
		seen[section.Name] = true
		m.Name = list + "/" + section.Name
		mutants = append(mutants, m)
	}
	return mutants, nil
}

func readMutant(text string) (Mutant, error) {
	var m Mutant
	var old, changed []string
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		command, isTest := strings.CutPrefix(line, "go test ")
		removed, isOld := strings.CutPrefix(line, "-")
		added, isNew := strings.CutPrefix(line, "+")
		switch {
		case m.Meaning == "":
			m.Meaning = line
		case m.File == "" && isTest:
			m.Test = strings.Fields(command)
		case m.File == "":
			m.File = line
		case isOld && changed == nil:
			old = append(old, removed)
		case isNew:
			changed = append(changed, added)
		default:
			return m, fmt.Errorf("do not understand the line %q", line)
		}
	}
	m.Old, m.New = strings.Join(old, "\n"), strings.Join(changed, "\n")
	if m.Old == "" || m.Old == m.New {
		return m, fmt.Errorf("it changes nothing")
	}
	return m, nil
}

// Apply returns the mutant's file as the mutant has it.
func (m Mutant) Apply(root string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(root, m.File))
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(data, []byte(m.Old)); n != 1 {
		return nil, fmt.Errorf("its old text is found %d times in %s, not once: %q", n, m.File, m.Old)
	}
	return bytes.Replace(data, []byte(m.Old), []byte(m.New), 1), nil
}
