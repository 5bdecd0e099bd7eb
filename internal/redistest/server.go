// Package redistest starts real Redis or Valkey servers for tests. Only tests
// import it.
package redistest

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cb/internal/redis"
)

// Server is a server of a test's own. It ends with the test.
type Server struct {
	Addr   string // host and port
	Port   string
	Socket string
	Dir    string // where it keeps its data

	t       testing.TB
	args    []string
	process *exec.Cmd
	log     *bytes.Buffer
}

// Start starts a server. It skips the test where none is installed, unless
// CB_TEST_REQUIRE names redis-server: then that is a failure.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	return startWith(t, nil, args...)
}

// startWith starts a server with arguments that must come first.
func startWith(t testing.TB, first []string, args ...string) *Server {
	t.Helper()
	port := freePort(t)
	// Paths of sockets must be short.
	dir, err := os.MkdirTemp("", "cb-redis-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &Server{Addr: net.JoinHostPort("127.0.0.1", port), Port: port, Socket: filepath.Join(dir, "s"), Dir: dir, t: t}
	s.args = slices.Concat(first, []string{"--port", port, "--bind", "127.0.0.1", "--unixsocket", s.Socket, "--dir", dir, "--repl-diskless-sync-delay", "0"})
	if first == nil {
		s.args = append(s.args, "--save", "")
	}
	s.args = append(s.args, args...)
	t.Cleanup(s.Kill)
	s.Restart()
	return s
}

// program finds a server.
func program(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if slices.Contains(strings.Fields(os.Getenv("CB_TEST_REQUIRE")), "redis-server") {
		t.Fatal("neither redis-server nor valkey-server is installed")
	}
	t.Skip("neither redis-server nor valkey-server is installed")
	return ""
}

// freePort returns a port that is free, and for a cluster 10000 above too.
func freePort(t testing.TB) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		l.Close()
		if port > 55000 {
			continue
		}
		if bus, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port+10000))); err == nil {
			bus.Close()
			return strconv.Itoa(port)
		}
	}
	t.Fatal("no free port")
	return ""
}

// Restart starts a server that does not run, with the data that it had saved.
func (s *Server) Restart() {
	s.t.Helper()
	s.log = &bytes.Buffer{}
	s.process = exec.Command(program(s.t), s.args...)
	s.process.Stdout, s.process.Stderr = s.log, s.log
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	Await(s.t, "the server answers", func() bool {
		reply, err := s.try("PING")
		return err == nil && reply != nil || err != nil && strings.Contains(err.Error(), "password")
	})
}

// Kill ends the server as a power cut would.
func (s *Server) Kill() {
	if s.process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
		s.process = nil
	}
}

// Pause stops the server's process: it accepts connections and never answers.
func (s *Server) Pause() { s.signal("-STOP") }

// Resume lets a paused server go on.
func (s *Server) Resume() { s.signal("-CONT") }

func (s *Server) signal(name string) {
	s.t.Helper()
	if err := exec.Command("kill", name, strconv.Itoa(s.process.Process.Pid)).Run(); err != nil {
		s.t.Fatal(err)
	}
}

// URL is where the server is.
func (s *Server) URL() string { return "redis://" + s.Addr }

// Do sends a command and returns its reply. An error fails the test.
func (s *Server) Do(words ...string) redis.Reply {
	s.t.Helper()
	reply, err := s.try(words...)
	if err != nil {
		s.t.Fatalf("%v: %v\n%s", words, err, s.log)
	}
	return reply
}

func (s *Server) try(words ...string) (redis.Reply, error) {
	c := redis.Client{Target: redis.Target{Network: "unix", Addrs: []string{s.Socket}}}
	defer c.Close()
	ctx, done := context.WithTimeout(context.Background(), 10*time.Second)
	defer done()
	return c.Do(ctx, redis.Command{Words: words})
}

// Await waits for a condition.
func Await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// StartTLS starts a server that speaks TLS on its port and wants a certificate
// of its clients.
func StartTLS(t testing.TB, cert, key, ca string) *Server {
	t.Helper()
	port := freePort(t)
	s := Start(t, "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", ca)
	s.Addr, s.Port = net.JoinHostPort("127.0.0.1", port), port
	return s
}
