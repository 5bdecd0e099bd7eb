package redis

import (
	"context"
	"net"
	"testing"
	"time"
)

// TestIdleConnections keeps a connection for a while and not for ever.
func TestIdleConnections(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	accepted := make(chan net.Conn, 9)
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			accepted <- c
			go func() {
				buffer := make([]byte, 99)
				for _, err := c.Read(buffer); err == nil; _, err = c.Read(buffer) {
					_, _ = c.Write([]byte("+OK\r\n"))
				}
			}()
		}
	}()
	c := Client{Target: Target{Network: "tcp", Addrs: []string{listener.Addr().String()}}}
	defer c.Close()
	ask := func() {
		ctx, done := context.WithTimeout(context.Background(), 10*time.Second)
		defer done()
		if _, err := c.Do(ctx, Command{Words: []string{"PING"}}); err != nil {
			t.Error(err)
		}
	}
	ask()
	ask()
	if n := len(accepted); n != 1 {
		t.Errorf("%d connections for two commands, want 1", n)
	}
	c.idle[0].fresh = time.Unix(1, 0)
	ask()
	if n := len(accepted); n != 2 || len(c.idle) != 1 {
		t.Errorf("%d connections after a long time, want another; %d idle", n, len(c.idle))
	}
}
