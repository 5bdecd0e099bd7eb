package cmd

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// shells are those that a completion script is written for.
func shells() []string { return []string{"bash", "zsh", "fish", "powershell"} }

func newCompletion(env *Env) *cobra.Command {
	var line, breaks string
	c := &cobra.Command{
		Use:   "completion " + strings.Join(shells(), "|"),
		Short: "Write a completion script for a shell",
		Long: `Write a script that lets a shell complete commands, flags, their words and the
names of circuits. Put it where the shell looks, and start a new shell:

  bash        cb completion bash >~/.local/share/bash-completion/completions/cb
              (or, without the package bash-completion, into ~/.bashrc)
  zsh         cb completion zsh >"${fpath[1]}/_cb"
              (with "autoload -U compinit; compinit" in ~/.zshrc)
  fish        cb completion fish >~/.config/fish/completions/cb.fish
  PowerShell  cb completion powershell >>$PROFILE`,
		Example: `  source <(cb completion bash)
  cb completion fish | source`,
		GroupID:           groupMore,
		Args:              cobra.ArbitraryArgs, // checked below, with a hint
		ValidArgsFunction: once(cobra.FixedCompletions(shells(), cobra.ShellCompDirectiveNoFileComp)),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("line") {
				return env.bashReply(line, breaks)
			}
			return env.completion(c.Root(), args)
		},
	}
	// For the script that bash is given.
	c.Flags().StringVar(&line, "line", "", "complete this line instead")
	c.Flags().StringVar(&breaks, "breaks", "", "the characters at which the shell divides words")
	_ = c.Flags().MarkHidden("line")
	_ = c.Flags().MarkHidden("breaks")
	return c
}

func (env *Env) completion(root *cobra.Command, args []string) error {
	hint := "the shells are " + strings.Join(shells(), ", ")
	if len(args) != 1 {
		return &usageError{err: fmt.Errorf("completion takes one shell, not %d", len(args)), hint: hint}
	}
	var err error
	switch args[0] {
	case "bash":
		_, err = env.Stdout.WriteString(bashCompletion)
	case "zsh":
		err = root.GenZshCompletion(env.Stdout)
	case "fish":
		err = root.GenFishCompletion(env.Stdout, true)
	case "powershell":
		err = root.GenPowerShellCompletionWithDesc(env.Stdout)
	default:
		return &usageError{err: fmt.Errorf("there is no completion for %q", args[0]), hint: hint}
	}
	if err != nil {
		return fmt.Errorf("write completion: %w", err)
	}
	return nil
}

// once offers what another completion does for the first argument only.
func once(offer cobra.CompletionFunc) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return offer(c, args, word)
	}
}

// completeNames offers the names of the store that begin with the word and
// were not given yet.
func (env *Env) completeNames(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	circuits, err := env.openStore(c)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	given := make(map[string]bool, len(args))
	for _, name := range args {
		given[name] = true
	}
	var offered []string
	for _, name := range namesInTime(circuits) {
		if !given[name] && beginsWith(name, word) {
			offered = append(offered, name)
		}
	}
	return offered, cobra.ShellCompDirectiveNoFileComp
}

// completionLimit is how long somebody who has pressed a key is made to wait.
const completionLimit = 300 * time.Millisecond

// namesInTime returns the names of a store, or none when it does not tell them
// soon: it may be a server that is away.
func namesInTime(circuits inventory) []string {
	known := make(chan []string, 1)
	go func() {
		names, _ := circuits.Names()
		known <- names
	}()
	select {
	case names := <-known:
		return names
	case <-time.After(completionLimit):
		return nil
	}
}

// beginsWith ignores case, as some shells do.
func beginsWith(text, start string) bool {
	return len(text) >= len(start) && strings.EqualFold(text[:len(start)], start)
}

// completeList offers the words of a flag that takes several, with commas.
func completeList(c *cobra.Command, flag string, words ...string) {
	_ = c.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		head := typed[:strings.LastIndexByte(typed, ',')+1]
		var offered []string
		for _, word := range words {
			if !strings.Contains(","+head, ","+word+",") {
				offered = append(offered, head+word)
			}
		}
		return offered, cobra.ShellCompDirectiveNoFileComp
	})
}

// completeFlags says of each flag that does not say so itself what its value
// is: a circuit, a directory, a file, or nothing that a shell could know.
func (env *Env) completeFlags(c *cobra.Command) {
	for _, sub := range c.Commands() {
		env.completeFlags(sub)
	}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if _, known := c.GetFlagCompletionFunc(f.Name); known {
			return
		}
		offer := cobra.NoFileCompletions
		words, isChoice := f.Value.(choice)
		switch {
		case isChoice:
			offer = cobra.FixedCompletions(words.words, cobra.ShellCompDirectiveNoFileComp)
		case f.Name == "name":
			offer = func(c *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
				return env.completeConfigured(c, nil, word)
			}
		case f.Name == "store":
			offer = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
		case strings.HasSuffix(f.Name, "-file"), f.Name == "config", f.Name == "shell", f.Name == "fallback", strings.HasPrefix(f.Name, "on-"):
			offer = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
		}
		_ = c.RegisterFlagCompletionFunc(f.Name, offer)
	})
}

// completeCommand offers the programs of PATH for the first word of a command,
// and leaves its arguments to the shell, which offers files.
func (env *Env) completeCommand(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 || strings.ContainsRune(word, filepath.Separator) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	seen := map[string]bool{}
	var programs []string
	for _, dir := range filepath.SplitList(env.getenv("PATH")) {
		entries, _ := os.ReadDir(dir)
		for _, entry := range entries {
			name := entry.Name()
			if !seen[name] && beginsWith(name, word) && executable(dir, entry) {
				seen[name] = true
				programs = append(programs, name)
			}
		}
	}
	return programs, cobra.ShellCompDirectiveDefault
}

func executable(dir string, entry fs.DirEntry) bool {
	info, err := os.Stat(filepath.Join(dir, entry.Name()))
	return err == nil && info.Mode().IsRegular() && (info.Mode()&0o111 != 0 || filepath.Separator == '\\')
}
