//go:build linux

package process

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// jobShell is a bash with job control on a terminal; run types a line there.
func jobShell(t *testing.T) (term *terminal, run func(w *wrapper, after string)) {
	t.Helper()
	need(t, "bash")
	cmd := exec.Command("bash", "--norc", "--noprofile", "--noediting", "-i")
	cmd.Env = append(os.Environ(), "PS1=$ ", "HISTFILE=")
	term = onTerminal(t, cmd)
	run = func(w *wrapper, after string) {
		t.Helper()
		line := "env '" + w.token + "'"
		for _, arg := range w.Args {
			line += " '" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		term.typed(line + " " + after + "\n")
	}
	return term, run
}

func state(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(text), ") ")
	return after[:min(1, len(after))]
}

func TestStopAndContinueFromTheTerminal(t *testing.T) {
	for _, flags := range []string{"", "-limit 1m"} {
		term, run := jobShell(t)
		w := wrap(t, flags, self("@count", "INT", "CONT")...)
		run(w, "")
		pid, err := strconv.Atoi(term.expect("ready "))
		check(t, err)
		parent, _ := readProc(strconv.Itoa(pid))
		for range 2 {
			term.typed("\x1a")
			term.expect("Stopped")
			eventually(t, "both to stop", func() bool { return state(pid) == "T" && state(parent.parent) == "T" })
			term.typed("fg\n")
			term.expect("got CONT")
			eventually(t, "both to go on", func() bool { return state(pid) == "S" && state(parent.parent) == "S" })
		}
		term.typed("\x03")
		term.expect("got INT")
		check(t, syscall.Kill(pid, syscall.SIGUSR2))
		if got := term.expect("counts "); got != "map[CONT:2 INT:1]" {
			t.Error(got)
		}
		term.typed("echo \"code <$?>\"; exit\n")
		term.expect("code <0>")
		term.end()
	}
}

func TestShellLoopStopsAtInterrupt(t *testing.T) {
	need(t, "bash")
	w := wrap(t, "", "sh", "-c", "echo ready; exec sleep 1000")
	cmd := exec.Command("bash", append([]string{"-c", `for i in 1 2 3; do "$@"; echo "went on"; done; echo "after"`, "bash"}, w.Args...)...)
	cmd.Env = w.Env
	term := onTerminal(t, cmd)
	term.expect("ready")
	term.typed("\x03")
	if s := term.end(); !s.Signaled() || s.Signal() != syscall.SIGINT {
		t.Error(cmd.ProcessState)
	}
	<-term.done
	if strings.Contains(term.text, "went on") {
		t.Errorf("went on:\n%s", term.text)
	}
}

func TestBackgroundUse(t *testing.T) {
	term, run := jobShell(t)
	run(wrap(t, "", "sh", "-c", "echo do''ne; exit 3"), "& wait $!; echo \"code <$?>\"")
	term.expect("done")
	term.expect("code <3>")

	// Reading the terminal in the background stops the job, as without us.
	term.typed("set -o notify\n")
	w := wrap(t, "", "sh", "-c", `echo pi''d $$; read x; echo "<got $x>"`)
	run(w, "&")
	pid, err := strconv.Atoi(term.expect("pid "))
	check(t, err)
	eventually(t, "the reader to stop", func() bool { return state(pid) == "T" })
	term.expect("Stopped") // only now does the shell know that it must wake the job
	term.typed("fg\n")
	eventually(t, "the reader to go on", func() bool { return state(pid) == "S" })
	term.typed("line\n")
	term.expect("<got line>")
	term.typed("exit\n")
	term.end()
}

// A shell inside takes the terminal for its jobs and gives it back.
func TestInteractiveShellInside(t *testing.T) {
	need(t, "bash")
	term, run := jobShell(t)
	run(wrap(t, "", "bash", "--norc", "--noprofile", "--noediting", "-i"), "")
	term.typed("sleep 1000; echo 'in''side <'$?'>'\n")
	eventually(t, "sleep to run", func() bool {
		group, err := foregroundOf(term.File)
		return err == nil && strings.Contains(commandLine(group), "sleep")
	})
	term.typed("\x03")
	term.typed("echo 'al''ive'; exit 5\n")
	term.expect("alive")
	term.typed("echo \"code <$?>\"; exit\n")
	term.expect("code <5>")
	term.end()
}

func commandLine(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(text)
}

func foregroundOf(file *os.File) (int, error) {
	return unix.IoctlGetInt(int(file.Fd()), unix.TIOCGPGRP)
}
