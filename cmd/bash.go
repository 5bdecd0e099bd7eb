package cmd

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// bashCompletion needs nothing but bash. It leaves the words of the line to cb:
// bash splits them at colons, and what it has quoted only an eval could undo,
// which would run the substitutions that the line may hold.
const bashCompletion = `# bash completion for cb
_cb() {
    local line first=1 beyond=none
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $first ]]; then
            first= beyond=$line
        else
            COMPREPLY+=("$line")
        fi
    done < <("$1" completion bash --line "${COMP_LINE:0:COMP_POINT}" --breaks "$COMP_WORDBREAKS" 2>/dev/null)
    if [[ $(type -t compopt) == builtin ]]; then
        case $beyond in
            none) compopt +o default +o bashdefault ;;
            dirs) compopt +o default +o bashdefault -o dirnames ;;
        esac
    fi
}
complete -o bashdefault -o default -F _cb cb
`

// bashReply writes what the script above wants to know: where bash looks when
// there are no words (none, dirs or files), and the words, a line each.
func (env *Env) bashReply(line, breaks string) error {
	words, last := bashWords(line, breaks)
	asked := *env
	asked.Args = append([]string{cobra.ShellCompNoDescRequestCmd}, append(words, last.text)...)
	root := newRoot(&asked)
	var answer bytes.Buffer
	root.SetOut(&answer)
	root.SetErr(io.Discard)
	root.SetArgs(asked.Args)
	if err := root.Execute(); err != nil {
		return err //nolint:wrapcheck // nobody sees it
	}
	offered, number, _ := strings.Cut("\n"+answer.String(), "\n:")
	directive, _ := strconv.Atoi(strings.TrimSpace(number))
	var reply strings.Builder
	switch directive := cobra.ShellCompDirective(directive); {
	case directive&cobra.ShellCompDirectiveFilterDirs != 0:
		reply.WriteString("dirs\n")
	case directive&cobra.ShellCompDirectiveNoFileComp != 0:
		reply.WriteString("none\n")
	default:
		reply.WriteString("files\n")
	}
	flag := "" // what cobra leaves out when it completes the value of --flag=
	if name, _, ok := strings.Cut(last.text, "="); ok && strings.HasPrefix(name, "--") {
		flag = name + "="
	}
	for word := range strings.SplitSeq(offered, "\n") {
		word = flag + word
		if word != flag && strings.HasPrefix(word, last.text) {
			reply.WriteString(last.quoted(word[last.before:]) + "\n")
		}
	}
	if _, err := env.Stdout.WriteString(reply.String()); err != nil {
		return fmt.Errorf("write completion: %w", err)
	}
	return nil
}

// bashWord is the unfinished word at the end of a line.
type bashWord struct {
	text   string
	before int  // how much of text bash does not take for part of the word
	quote  byte // the quote that is still open, or 0
}

// quoted writes the rest of the word so that bash reads it as it is.
func (w bashWord) quoted(text string) string {
	switch w.quote {
	case '\'':
		return strings.ReplaceAll(text, "'", `'\''`)
	case '"':
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(text)
	}
	var out strings.Builder
	for _, r := range text {
		if !plainInShell(r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// bashWords splits a line as bash does, without expanding anything, into the
// arguments of the command and the unfinished last word.
func bashWords(line, breaks string) (words []string, last bashWord) {
	var text strings.Builder
	begun, escaped := false, false
	opened := 0 // where the open quote stands
	finish := func() {
		if begun {
			words = append(words, text.String())
		}
		text.Reset()
		begun, last = false, bashWord{}
	}
	for i := range len(line) { // what has a meaning is ASCII
		b := line[i]
		switch {
		case escaped:
			if last.quote == '"' && !strings.ContainsRune("\\\"$`", rune(b)) {
				text.WriteByte('\\')
			}
			text.WriteByte(b)
			escaped = false
		case b == '\\' && last.quote != '\'':
			begun, escaped = true, true
		case b == last.quote:
			last.quote = 0
		case last.quote != 0:
			text.WriteByte(b)
		case b == '\'' || b == '"':
			begun, last.quote, opened = true, b, text.Len()
		case b == ' ' || b == '\t' || b == '\n':
			finish()
		default:
			begun = true
			text.WriteByte(b)
			if strings.IndexByte(breaks, b) >= 0 {
				last.before = text.Len()
			}
		}
	}
	last.text = text.String()
	if last.quote != 0 {
		last.before = opened
	}
	// What stands before the program sets its environment.
	for len(words) > 0 && strings.Contains(words[0], "=") {
		words = words[1:]
	}
	return words[min(1, len(words)):], last
}
