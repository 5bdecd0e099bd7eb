// Command gendocs writes the manual pages and the completion scripts of a
// release: go run ./internal/gendocs [-version V] DIR. It is never linked into
// cb.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cb/cmd"
)

func main() {
	version := flag.String("version", "", "of cb, for the foot of the pages")
	flag.Parse()
	err := errors.New("usage: gendocs [-version V] DIR")
	if flag.NArg() == 1 {
		err = generate(flag.Arg(0), *version)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gendocs:", err)
		os.Exit(1)
	}
}

func generate(dir, version string) error {
	for _, p := range cmd.Pages() {
		if err := write(filepath.Join(dir, "man", fileOf(p)), []byte(roff(p, version))); err != nil {
			return err
		}
	}
	for shell, name := range map[string]string{"bash": "cb.bash", "zsh": "_cb", "fish": "cb.fish", "powershell": "cb.ps1"} {
		if err := completion(filepath.Join(dir, "completions", name), shell); err != nil {
			return err
		}
	}
	return nil
}

// fileOf returns the name of a page's file: cb-run.1, cb-states.7.
func fileOf(p cmd.Page) string {
	return strings.ReplaceAll(p.Name, " ", "-") + "." + sectionOf(p)
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

func completion(path, shell string) error {
	if err := write(path, nil); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if code := cmd.Main(cmd.Env{Args: []string{"completion", shell}, Stdin: os.Stdin, Stdout: file, Stderr: os.Stderr}); code != 0 {
		err = fmt.Errorf("completion for %s: exit code %d", shell, code)
	}
	return errors.Join(err, file.Close())
}
