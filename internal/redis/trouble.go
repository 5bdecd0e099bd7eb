package redis

import (
	"context"
	"errors"
	"net"
	"strings"
)

// Trouble is the only kind of error of a Client: one line for people, without
// secrets.
type Trouble struct {
	Text string
	// Code is the first word of a server's reply, such as NOSCRIPT, or STRANGER
	// when that was no reply of a Redis server; empty when there was none.
	Code string
	// Sent says that the commands may have been carried out.
	Sent bool
	// Addr is where MOVED and ASK lead to.
	Addr string
}

// Error is the line.
func (e *Trouble) Error() string { return e.Text }

// The codes that are acted upon.
const (
	codeReadOnly = "READONLY"
	codeMoved    = "MOVED"
	codeStranger = "STRANGER"
	codeAsk      = "ASK"
	CodeNoScript = "NOSCRIPT"
)

// transient reports whether the same server may answer in a moment.
func (e *Trouble) transient() bool {
	switch e.Code {
	case "LOADING", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN":
		return true
	}
	return false
}

// explain says what the error of a server means.
func explain(addr string, refused ServerError) *Trouble {
	trouble := &Trouble{Code: code(string(refused))}
	meaning := map[string]string{
		"NOAUTH":      " asks for a password",
		"WRONGPASS":   " does not accept the password",
		codeReadOnly:  " is a read-only replica",
		"OOM":         " is out of memory",
		"LOADING":     " is still loading its data",
		codeMoved:     " is a node of a cluster, which needs redis+cluster://",
		codeAsk:       " is moving the circuit to another node",
		"TRYAGAIN":    " is moving the circuit to another node",
		"MISCONF":     " cannot save its data and takes no changes",
		"NOREPLICAS":  " has lost its replicas and takes no changes",
		"MASTERDOWN":  " is a replica that has lost its master",
		"CLUSTERDOWN": " says that its cluster is down",
		"DENIED":      " is in protected mode and serves its own host only",
		"WRONGTYPE":   " keeps something that is not a circuit under its key",
	}
	text, known := meaning[trouble.Code]
	if !known {
		text = " says: " + string(refused)
	}
	trouble.Text = addr + text
	if trouble.Code == codeMoved || trouble.Code == codeAsk {
		words := strings.Fields(string(refused))
		trouble.Addr = words[len(words)-1]
		if host, _, err := net.SplitHostPort(addr); err == nil && strings.HasPrefix(trouble.Addr, ":") {
			trouble.Addr = net.JoinHostPort(host, trouble.Addr[1:]) // the host that said so
		}
	}
	return trouble
}

// code returns the first word. Servers before 7.0 hide that of a command in a
// script in a sentence about the script.
func code(text string) string {
	first, _, _ := strings.Cut(text, " ")
	if strings.HasPrefix(text, "ERR Error running script") {
		for _, inner := range []string{codeReadOnly, "OOM", "WRONGTYPE", "MISCONF", "NOREPLICAS"} {
			if strings.Contains(text, inner+" ") {
				return inner
			}
		}
	}
	return first
}

// reason returns the innermost reason why a connection could not be made.
func reason(err error) string {
	var timeout net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		return "no answer in time"
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return dns.Err
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err.Error()
}
