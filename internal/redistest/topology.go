package redistest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"cb/internal/redis"
)

// StartCluster starts a cluster of three masters.
func StartCluster(t testing.TB) []*Server {
	t.Helper()
	var nodes []*Server
	for range 3 {
		nodes = append(nodes, Start(t, "--cluster-enabled", "yes", "--cluster-node-timeout", "2000"))
	}
	for i, slots := range [][2]string{{"0", "5460"}, {"5461", "10922"}, {"10923", "16383"}} {
		nodes[i].Do("CLUSTER", "ADDSLOTSRANGE", slots[0], slots[1])
		nodes[i].Do("CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
		nodes[i].Do("CLUSTER", "MEET", "127.0.0.1", nodes[0].Port)
	}
	for _, node := range nodes {
		Await(t, "the cluster is complete", func() bool {
			info, _ := node.Do("CLUSTER", "INFO").(string)
			known, _ := node.Do("CLUSTER", "NODES").(string)
			return strings.Contains(info, "cluster_state:ok") && strings.Count(known, "connected") == len(nodes)
		})
	}
	return nodes
}

// StartReplica starts a replica that has caught up.
func StartReplica(t testing.TB, master *Server) *Server {
	t.Helper()
	replica := Start(t, "--replicaof", "127.0.0.1 "+master.Port)
	Await(t, "the replica follows", func() bool {
		info, _ := replica.Do("INFO", "replication").(string)
		return strings.Contains(info, "master_link_status:up")
	})
	return replica
}

// Watched is a master with a replica and the sentinels that watch them.
type Watched struct {
	Master, Replica *Server
	Sentinels       []*Server
}

// MasterName is what the sentinels call the master.
const MasterName = "mymaster"

// StartWatched starts a master, a replica and three sentinels that put the
// replica into its place within a second or two.
func StartWatched(t testing.TB) Watched {
	t.Helper()
	w := Watched{Master: Start(t)}
	w.Replica = StartReplica(t, w.Master)
	for range 3 {
		file := filepath.Join(t.TempDir(), "sentinel.conf")
		config := fmt.Sprintf(`sentinel monitor %[1]s 127.0.0.1 %[2]s 2
sentinel down-after-milliseconds %[1]s 300
sentinel failover-timeout %[1]s 2000
`, MasterName, w.Master.Port)
		if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		w.Sentinels = append(w.Sentinels, startWith(t, []string{file, "--sentinel"}))
	}
	for _, s := range w.Sentinels {
		Await(t, "the sentinels know each other", func() bool {
			fields, _ := s.Do("SENTINEL", "MASTER", MasterName).([]redis.Reply)
			known := map[string]string{}
			for i := 0; i+1 < len(fields); i += 2 {
				known[fmt.Sprint(fields[i])] = fmt.Sprint(fields[i+1])
			}
			return known["num-other-sentinels"] == "2" && known["num-slaves"] == "1"
		})
	}
	return w
}

// URL asks the sentinels, and before them one that is not there.
func (w Watched) URL() string {
	hosts := []string{net.JoinHostPort("127.0.0.1", "1")}
	for _, s := range w.Sentinels {
		hosts = append(hosts, s.Addr)
	}
	return "redis+sentinel://" + strings.Join(hosts, ",") + "/" + MasterName
}
