package store

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"cb/internal/breaker"
	"cb/internal/redistest"
)

// TestRedisTrouble puts a server into each kind of trouble and wants a line
// that says which.
func TestRedisTrouble(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args  []string
		begin func(s *redistest.Server)
		url   func(s *redistest.Server) string
		want  string // ADDR stands for the address
		reads bool   // a reading still works
	}{
		"killed":         {begin: (*redistest.Server).Kill, want: "no connection to ADDR"},
		"paused":         {begin: (*redistest.Server).Pause, want: "answer in time"},
		"needs password": {args: []string{"--requirepass", "pa55word"}, want: "ADDR asks for a password"},
		"wrong password": {
			args: []string{"--requirepass", "pa55word"},
			url:  func(s *redistest.Server) string { return "redis://:wr0ng@" + s.Addr },
			want: "ADDR does not accept the password",
		},
		"wrong user": {
			args: []string{"--requirepass", "pa55word"},
			url:  func(s *redistest.Server) string { return "redis://me:pa55word@" + s.Addr },
			want: "ADDR does not accept the password",
		},
		"password for none": {
			url:  func(s *redistest.Server) string { return "redis://:pa55word@" + s.Addr },
			want: "ADDR does not accept the password",
		},
		"no such database": {
			url:  func(s *redistest.Server) string { return s.URL() + "/77" },
			want: "ADDR says: ERR DB index is out of range",
		},
		"wrong type": {
			begin: func(s *redistest.Server) { s.Do("LPUSH", "cb:{deploy}", "x") },
			want:  "ADDR keeps something that is not a circuit under its key",
		},
		"out of memory": {
			begin: func(s *redistest.Server) { s.Do("CONFIG", "SET", "maxmemory", "1") },
			want:  "ADDR is out of memory", reads: true,
		},
		"read-only replica": {
			begin: func(s *redistest.Server) { s.Do("REPLICAOF", "127.0.0.1", "1") },
			want:  "ADDR is a read-only replica", reads: true,
		},
		"replica that is not served": {
			args:  []string{"--replica-serve-stale-data", "no"},
			begin: func(s *redistest.Server) { s.Do("REPLICAOF", "127.0.0.1", "1") },
			want:  "ADDR is a replica that has lost its master",
		},
		"no permission": {
			begin: func(s *redistest.Server) { s.Do("ACL", "SETUSER", "me", "on", ">pa55word", "+ping", "~*") },
			url:   func(s *redistest.Server) string { return "redis://me:pa55word@" + s.Addr },
			want:  "ADDR says: NOPERM",
		},
		"another protocol": {
			begin: (*redistest.Server).Kill,
			url:   func(*redistest.Server) string { return "redis://" + redistest.Stranger(t) },
			want:  "does not speak the Redis protocol",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := redistest.Start(t, test.args...)
			url := s.URL()
			if test.begin != nil {
				update(t, newRedis(t, url), "other", increment)
				test.begin(s)
			}
			if test.url != nil {
				url = test.url(s)
			}
			r := newRedis(t, url)
			r.Limit = 500 * time.Millisecond
			want := strings.ReplaceAll(test.want, "ADDR", s.Addr)
			began := time.Now()
			err := r.Update(context.Background(), "deploy", increment)
			again := r.Update(context.Background(), "deploy", increment)
			_, _, _, reading := r.Read("deploy")
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("a change, another attempt and a reading took %v, with a limit of 500ms", took)
			}
			for _, err := range []error{err, again} {
				if err == nil || !strings.Contains(Cause(err), want) {
					t.Errorf("Update: %v, want %q", err, want)
				}
			}
			if (reading == nil) != test.reads {
				t.Errorf("Read: %v", reading)
			}
			if strings.Contains(err.Error(), "pa55word") || strings.Contains(err.Error(), "wr0ng") {
				t.Errorf("the password is shown: %v", err)
			}
			if !test.reads {
				var listing error
				for _, err := range r.List() {
					listing = errors.Join(listing, err)
				}
				if listing == nil {
					t.Error("List finds nothing wrong")
				}
			}
		})
	}
}

func TestRedisComesBack(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, "--appendonly", "yes", "--appendfsync", "always")
	r := newRedis(t, s.URL())
	update(t, r, "deploy", increment)
	s.Kill()
	s.Restart()
	update(t, r, "deploy", increment) // over a connection that broke
	s.Do("SCRIPT", "FLUSH")
	update(t, r, "deploy", increment)
	if got := read(t, r, "deploy").Totals.Successes; got != 3 {
		t.Errorf("%d updates, want 3", got)
	}
	s.Do("FLUSHALL")
	update(t, r, "deploy", increment)
	if got := read(t, r, "deploy").Totals.Successes; got != 1 {
		t.Errorf("%d updates after everything was flushed, want 1", got)
	}
	s.Pause()
	done := make(chan error)
	go func() { done <- r.Update(context.Background(), "deploy", increment) }()
	time.Sleep(50 * time.Millisecond)
	s.Resume()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestRedisCancelled(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r := newRedis(t, s.URL())
	s.Pause()
	defer s.Resume()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	if err := r.Update(ctx, "deploy", increment); !errors.Is(err, context.Canceled) {
		t.Errorf("Update: %v, want context.Canceled", err)
	}
}

func TestRedisRenewsItsLease(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r, other := newRedis(t, s.URL()), newRedis(t, s.URL())
	r.Lease, other.Lease = time.Second, time.Second
	warned := make(chan string, 1)
	r.Warn = func(message string) { warned <- message }
	update(t, r, "deploy", addProbe("00000000000000aa"))
	for until := time.Now().Add(2 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		wantLost(t, other, 0)
	}
	s.Do("DEL", "cb:{deploy}:leases") // as a failover may do
	redistest.Await(t, "the lease is back", func() bool {
		byRead, _ := seenLost(t, other, "deploy")
		return byRead == 0
	})
	update(t, other, "deploy", put(breaker.Circuit{}))
	if got := <-warned; !strings.Contains(got, "deploy does not wait for this probe any more") {
		t.Errorf("warned %q", got)
	}
}

// TestRedisNeedsThesePermissions is the list of docs/fleet.md.
func TestRedisNeedsThesePermissions(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "\nACL SETUSER cb on >PASSWORD ")
	line, _, found := strings.Cut(rest, "\n")
	if !found {
		t.Fatal("docs/fleet.md has no such list")
	}
	s := redistest.Start(t)
	s.Do(append([]string{"ACL", "SETUSER", "me", "on", ">pa55word"}, strings.Fields(line)...)...)
	for range 2 { // the second time the scripts are known
		r := newRedis(t, "redis://me:pa55word@"+s.Addr+"/1")
		r.Lease = 300 * time.Millisecond
		update(t, r, "deploy", addProbe("00000000000000aa"))
		time.Sleep(r.Lease) // a renewal
		wantLost(t, r, 0)
		update(t, r, "deploy", put(breaker.Circuit{Streak: 1}))
		if err := r.SaveOutput("deploy", []byte("x")); err != nil {
			t.Error(err)
		}
		if _, _, found, err := r.Output("deploy"); !found || err != nil {
			t.Errorf("found %v, %v", found, err)
		}
		var group sync.WaitGroup
		for range 20 { // some of them wait in the queue
			group.Go(func() {
				if err := r.Update(context.Background(), "deploy", increment); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		for _, err := range r.List() {
			if err != nil {
				t.Error(err)
			}
		}
		if removed, err := r.Remove(context.Background(), "deploy", func(breaker.Circuit, time.Time) bool { return true }); !removed || err != nil {
			t.Errorf("Remove: %v, %v", removed, err)
		}
		r.Close()
	}
}
