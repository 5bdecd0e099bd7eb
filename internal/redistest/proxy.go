package redistest

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Proxy stands before a server and counts round trips. It ends with the test.
type Proxy struct {
	Addr string

	listener net.Listener
	behind   string
	group    sync.WaitGroup

	mu     sync.Mutex
	trips  int
	asking bool // the last bytes went to the server
	open   map[net.Conn]bool
	lost   func() // what to do instead of handing the next reply on
}

// NewProxy returns a proxy of the server at an address.
func NewProxy(t testing.TB, addr string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: listener.Addr().String(), listener: listener, behind: addr, open: map[net.Conn]bool{}}
	p.group.Go(p.serve)
	t.Cleanup(func() {
		listener.Close()
		p.Break()
		p.group.Wait()
	})
	return p
}

// Trips returns how often a client has waited for an answer since it was
// called last.
func (p *Proxy) Trips() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	trips := p.trips
	p.trips, p.asking = 0, false
	return trips
}

// Break breaks all connections.
func (p *Proxy) Break() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		c.Close()
	}
}

// LoseReply breaks the connection on which the next reply comes, instead of
// handing it on: what was asked has been done, and nobody is told. Then, before
// the client knows, it calls meanwhile.
func (p *Proxy) LoseReply(meanwhile func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost = meanwhile
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.behind)
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		p.open[client], p.open[server] = true, true
		p.mu.Unlock()
		p.group.Go(func() { p.copy(server, client, true) })
		p.group.Go(func() { p.copy(client, server, false) })
	}
}

func (p *Proxy) copy(to, from net.Conn, asking bool) {
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && (!p.note(asking) || failed(to.Write(buffer[:n]))) || err != nil {
			from.Close()
			return
		}
	}
}

func failed(_ int, err error) bool { return err != nil && err != io.EOF }

// note counts, and reports whether the bytes are to be handed on.
func (p *Proxy) note(asking bool) bool {
	p.mu.Lock()
	if asking && !p.asking {
		p.trips++
	}
	p.asking = asking
	var lost func()
	if !asking {
		lost, p.lost = p.lost, nil
	}
	p.mu.Unlock()
	if lost != nil {
		lost()
	}
	return lost == nil
}

// Stranger returns the address of a server that speaks something else. It ends
// with the test.
func Stranger(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 4096)) // what is left unread would break the connection
			_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
			_ = c.Close()
		}
	})
	t.Cleanup(func() {
		listener.Close()
		group.Wait()
	})
	return listener.Addr().String()
}
