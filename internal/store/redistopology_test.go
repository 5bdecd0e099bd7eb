package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"cb/internal/redis"
	"cb/internal/redistest"
)

func TestSentinelsFindTheNewMaster(t *testing.T) {
	t.Parallel()
	needsTime(t)
	w := redistest.StartWatched(t)
	r := newRedis(t, w.URL())
	for range 20 {
		update(t, r, "deploy", increment)
	}
	follows(t, w.Replica, w.Master)
	w.Master.Kill()
	update(t, r, "deploy", increment)
	if got := read(t, r, "deploy").Totals.Successes; got != 21 {
		t.Errorf("%d updates, want 21", got)
	}
	if role := w.Replica.Do("ROLE"); !strings.Contains(strings.ToLower(stringOf(role)), "master") {
		t.Errorf("the replica is %v", role)
	}
}

func TestClusterMovesASlot(t *testing.T) {
	t.Parallel()
	needsTime(t)
	nodes := redistest.StartCluster(t)
	r := newRedis(t, "redis+cluster://"+nodes[0].Addr+","+nodes[1].Addr)
	update(t, r, "deploy", increment)
	slot := stringOf(nodes[0].Do("CLUSTER", "KEYSLOT", "cb:{deploy}"))
	from, to := nodes[0], nodes[1]
	for i, node := range nodes {
		if keys := stringOf(node.Do("DBSIZE")); keys != "0" {
			from, to = node, nodes[(i+1)%len(nodes)]
		}
	}
	id := func(s *redistest.Server) string { return stringOf(s.Do("CLUSTER", "MYID")) }
	to.Do("CLUSTER", "SETSLOT", slot, "IMPORTING", id(from))
	from.Do("CLUSTER", "SETSLOT", slot, "MIGRATING", id(to))
	from.Do("MIGRATE", "127.0.0.1", to.Port, "cb:{deploy}", "0", "1000")
	done := make(chan error)
	go func() { done <- r.Update(context.Background(), "deploy", increment) }() // ASK, then TRYAGAIN
	time.Sleep(100 * time.Millisecond)
	for _, node := range nodes {
		node.Do("CLUSTER", "SETSLOT", slot, "NODE", id(to))
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	update(t, r, "deploy", increment)
	if got := read(t, r, "deploy").Totals.Successes; got != 3 {
		t.Errorf("%d updates, want 3", got)
	}
	single := newRedis(t, "redis://"+from.Addr)
	err := single.Update(context.Background(), "deploy", increment)
	if err == nil || !strings.Contains(err.Error(), "needs redis+cluster://") {
		t.Errorf("a single node: %v", err)
	}
}

// follows waits until a replica has the circuit of its master.
func follows(t *testing.T, replica, master *redistest.Server) {
	t.Helper()
	redistest.Await(t, "the replica follows", func() bool {
		return replica.Do("GET", "cb:{deploy}") == master.Do("GET", "cb:{deploy}")
	})
}

func stringOf(reply redis.Reply) string { return fmt.Sprint(reply) }

// TestReplicaServesReadings looks at a circuit on a replica.
func TestReplicaServesReadings(t *testing.T) {
	t.Parallel()
	master := redistest.Start(t)
	replica := redistest.StartReplica(t, master)
	update(t, newRedis(t, master.URL()), "deploy", increment)
	follows(t, replica, master)
	r := newRedis(t, replica.URL())
	if got := read(t, r, "deploy").Totals.Successes; got != 1 {
		t.Errorf("%d updates, want 1", got)
	}
	if names, err := r.Names(); len(names) != 1 || err != nil {
		t.Errorf("names %q, %v", names, err)
	}
	if err := r.Update(context.Background(), "deploy", increment); err == nil {
		t.Error("a replica takes a change")
	}
}
