// Package cmd is the command line: flags in, text and exit codes out.
package cmd

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"cb/internal/config"
	"cb/internal/place"
	"cb/internal/redis"
	"cb/internal/store"
)

// Env is everything that the program knows of the world around it.
type Env struct {
	Args                  []string // without the program's name
	Environ               []string // NAME=value
	Stdin, Stdout, Stderr *os.File
	Clock                 func() store.Reading
	Seed                  func() uint64 // randomness for generations, tokens and jitter
	PID                   int
	Hostname              func() (string, error)
	Raise                 func(syscall.Signal) // dies of a signal; returns only where that cannot work
	Version               string
	Secure                redis.Secure                                   // TLS; nil: this program has none
	Executable            func() (string, error)                         // path of this program
	Become                func(program string, argv, env []string) error // replaces the process; returns only an error

	warnings []string     // so far
	file     *config.File // the configuration, once it was read
}

// Main runs the command line and returns the exit code.
func Main(env Env) int {
	root := newRoot(&env)
	root.SetArgs(env.Args)
	return env.conclude(root.Execute())
}

func newRoot(env *Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "cb",
		Short: "A circuit breaker for the command line",
		Long: `cb runs a command through a circuit breaker whose state outlives the process:
after repeated failures the circuit opens, further runs are skipped with exit
code 75, and after a timeout one run is let through to probe.`,
		Example: `  cb run --name deploy-api --threshold 3 --timeout 30s -- curl -fsS https://api.example.com/deploy
  cb status
  cb reset deploy-api`,
		Version:           env.Version,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true}, // there is one of our own
		Args:              unknownCommand,
		RunE:              func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SetUsageFunc(usage)
	root.SetHelpFunc(help)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if word := firstWord(env.Args); c == root && word != "" {
			return unknownCommand(c, []string{word}) // cb rum --name x: the flags are not root's to judge
		}
		return flagError(c, err)
	})
	addStoreFlags(root.PersistentFlags())
	root.AddGroup(
		&cobra.Group{ID: groupRun, Title: "Run"},
		&cobra.Group{ID: groupLook, Title: "Look"},
		&cobra.Group{ID: groupChange, Title: "Change"},
		&cobra.Group{ID: groupMore, Title: "More"},
		&cobra.Group{ID: groupTopics, Title: "Topics (cb help TOPIC)"},
	)
	if newCommand := constructor(env.Args); newCommand != nil {
		root.AddCommand(newCommand(env))
		return root
	}
	for _, newCommand := range constructors() {
		root.AddCommand(newCommand(env))
	}
	root.AddCommand(newTopics()...)
	root.SetHelpCommand(newHelp())
	if len(env.Args) > 0 && strings.HasPrefix(env.Args[0], cobra.ShellCompRequestCmd) {
		env.completeFlags(root)
	}
	return root
}

func constructors() map[string]func(*Env) *cobra.Command {
	return map[string]func(*Env) *cobra.Command{
		"run": newRun, "check": newCheck, "acquire": newAcquire, "record": newRecord,
		"status": newStatus, "history": newHistory, "config": newConfig, "metrics": newMetrics,
		"reset": newReset, "trip": newTrip, "hold": newHold, "disable": newDisable, "enable": newEnable, "prune": newPrune,
		"doctor": newDoctor, "demo": newDemo, "completion": newCompletion,
	}
}

// constructor returns the one that makes the command that is called, nil when
// that cannot be told from the first word. To make all commands takes a tenth
// of a millisecond, which every cron run would pay.
func constructor(args []string) func(*Env) *cobra.Command {
	if len(args) == 0 {
		return nil
	}
	return constructors()[args[0]]
}

// The groups of commands in help.
const (
	groupRun    = "run"
	groupLook   = "look"
	groupChange = "change"
	groupMore   = "more"
	groupTopics = "topics"
)

func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var known, topics []string // a command is meant before a topic
	for _, sub := range inOrder(c.Commands()) {
		if isTopic(sub) {
			topics = append(topics, sub.Name())
		} else {
			known = append(known, sub.Name())
		}
	}
	return &usageError{
		err:  fmt.Errorf("unknown command %q", args[0]),
		hint: orElse(didYouMean(args[0], append(known, topics...)), "cb help lists the commands"),
	}
}

// firstWord returns the first argument that is not a flag.
func firstWord(args []string) string {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			return arg
		}
	}
	return ""
}

// getenv returns the value of an environment variable, or "".
func (env *Env) getenv(name string) string {
	for _, entry := range env.Environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// user returns who gives a manual command, for people who read it later.
func (env *Env) user() string {
	for _, name := range []string{"SUDO_USER", "USER", "LOGNAME", "USERNAME"} {
		if user := env.getenv(name); user != "" {
			return user
		}
	}
	return orElse(place.UserName(os.Getuid()), fmt.Sprintf("uid %d", os.Getuid()))
}
