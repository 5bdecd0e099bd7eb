package cmd

import (
	"bytes"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Page is what a manual page tells of a command or a topic.
type Page struct {
	Name    string // "cb run"; of a topic "cb states"
	Topic   bool
	Short   string
	Usage   string
	Text    string // paragraphs; indented ones are to be left as they are
	Example string
	Flags   []PageFlags
	Lists   []PageFlags // of other pages, for that of cb itself
}

// PageFlags are flags, or commands, under a title.
type PageFlags struct {
	Title string
	Rows  [][2]string // what is written, and what it does
}

// Pages returns the pages of cb, its commands and its topics, made from what
// help shows. The first is that of cb.
func Pages() []Page {
	root := newRoot(&Env{})
	pages := []Page{pageOf(root)}
	for _, group := range root.Groups() {
		list := PageFlags{Title: group.Title}
		for _, c := range inOrder(root.Commands()) {
			if c.GroupID == group.ID {
				list.Rows = append(list.Rows, [2]string{c.CommandPath(), c.Short})
				pages = append(pages, pageOf(c))
			}
		}
		pages[0].Lists = append(pages[0].Lists, list)
	}
	return pages
}

// ExitCodes returns the one table of exit codes: a code and its meaning.
func ExitCodes() [][2]string { return exitCodes() }

func pageOf(c *cobra.Command) Page {
	p := Page{Name: c.CommandPath(), Topic: isTopic(c), Short: c.Short, Usage: c.UseLine(), Text: textOf(c), Example: c.Example}
	if p.Topic {
		return p
	}
	if !c.HasParent() {
		p.Usage = "cb COMMAND [flags]"
	}
	c.InitDefaultHelpFlag()
	for _, group := range flagGroups(c) {
		list := PageFlags{Title: group.title}
		group.flags.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				list.Rows = append(list.Rows, rowOf(f))
			}
		})
		p.Flags = append(p.Flags, list)
	}
	return p
}

// textOf returns what help says before the usage.
func textOf(c *cobra.Command) string {
	var text bytes.Buffer
	c.SetOut(&text)
	c.HelpFunc()(c, nil)
	before, _, _ := strings.Cut(text.String(), "\nUsage:\n")
	return strings.TrimRight(before, "\n")
}

// rowOf returns a flag as help shows it.
func rowOf(f *pflag.Flag) [2]string {
	one := pflag.NewFlagSet("", pflag.ContinueOnError)
	one.AddFlag(f)
	line := strings.TrimSpace(one.FlagUsages())
	written, meaning, _ := strings.Cut(line, "   ")
	return [2]string{written, strings.TrimSpace(meaning)}
}
