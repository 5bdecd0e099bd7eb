package main

import (
	"fmt"
	"strings"

	"cb/cmd"
)

// sectionOf returns 1 for commands and 7 for topics.
func sectionOf(p cmd.Page) string {
	if p.Topic {
		return "7"
	}
	return "1"
}

// roff writes a page in the language of man(7), without a date, so that two
// runs are the same.
func roff(p cmd.Page, version string) string {
	var page strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&page, format+"\n", args...) }
	section := sectionOf(p)
	name := strings.ReplaceAll(p.Name, " ", "-")
	line(`.TH %s %s "" "%s" "cb"`, quoted(strings.ToUpper(name)), section, strings.TrimSpace("cb "+version))
	line(".nh\n.ad l")
	line(".SH NAME\n%s \\- %s", escape(name), escape(lowerFirst(p.Short)))
	if !p.Topic {
		line(".SH SYNOPSIS\n.B %s", escape(p.Usage))
	}
	line(".SH DESCRIPTION")
	page.WriteString(paragraphs(p.Text))
	for _, list := range p.Lists {
		line(".SH %s", strings.ToUpper(list.Title))
		for _, row := range list.Rows {
			line(".TP\n.BR %s (%s)\n%s", escape(strings.ReplaceAll(row[0], " ", "-")), listedSection(list), escape(row[1]))
		}
	}
	if len(p.Flags) > 0 {
		line(".SH OPTIONS")
	}
	for _, list := range p.Flags {
		if len(p.Flags) > 1 {
			line(".SS %s", list.Title)
		}
		for _, row := range list.Rows {
			line(".TP\n.B %s\n%s", escape(row[0]), escape(row[1]))
		}
	}
	if p.Name == "cb" || p.Name == "cb run" {
		line(".SH EXIT STATUS")
		for _, row := range cmd.ExitCodes() {
			line(".TP\n.B %s\n%s", escape(row[0]), escape(row[1]))
		}
	}
	if p.Example != "" && !p.Topic {
		line(".SH EXAMPLES")
		page.WriteString(paragraphs(p.Example))
	}
	if p.Name != "cb" {
		line(".SH SEE ALSO\n.BR cb (1)")
	}
	return page.String()
}

// listedSection returns the section of the pages in a list.
func listedSection(list cmd.PageFlags) string {
	if strings.HasPrefix(list.Title, "Topics") {
		return "7"
	}
	return "1"
}

// paragraphs writes a text whose paragraphs are filled, but for those with an
// indented line, which stay as they are.
func paragraphs(text string) string {
	var out strings.Builder
	for paragraph := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		paragraph = strings.Trim(paragraph, "\n")
		if strings.HasPrefix(paragraph, " ") || strings.Contains(paragraph, "\n ") {
			out.WriteString(".PP\n.EX\n" + escape(paragraph) + "\n.EE\n")
		} else {
			out.WriteString(".PP\n" + escape(paragraph) + "\n")
		}
	}
	return out.String()
}

// escape keeps a text from being taken for requests, its dashes for hyphens,
// which nobody could paste, and other letters for bytes.
func escape(text string) string {
	var out strings.Builder
	begins := true
	for _, r := range text {
		switch {
		case r == '\\':
			out.WriteString(`\e`)
		case r == '-':
			out.WriteString(`\-`)
		case r > 0x7e:
			fmt.Fprintf(&out, `\[u%04X]`, r)
		case begins && (r == '.' || r == '\''):
			out.WriteString(`\&` + string(r))
		default:
			out.WriteRune(r)
		}
		begins = r == '\n'
	}
	return out.String()
}

func quoted(text string) string { return `"` + escape(text) + `"` }

// lowerFirst is how the line of NAME begins.
func lowerFirst(text string) string { return strings.ToLower(text[:1]) + text[1:] }
