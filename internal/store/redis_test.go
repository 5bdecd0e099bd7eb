package store

import (
	"testing"
	"time"

	"cb/internal/redistest"
)

func TestRedisKeepsTheContract(t *testing.T) {
	server := redistest.Start(t)
	testContract(t, func(t *testing.T) subject {
		server.Do("FLUSHALL")
		r := newRedis(t, server.URL())
		return subject{
			contractStore: r,
			url:           server.URL(),
			get: func(name string) []byte {
				data, _ := server.Do("GET", r.keys(name)[keyDocument]).(string)
				return []byte(data)
			},
			set: func(name string, data []byte) {
				server.Do("SET", r.keys(name)[keyDocument], string(data))
			},
			lapse: func(lost func() bool) { redistest.Await(t, "the lease lapses", lost) },
		}
	})
}

// newRedis returns a store whose warnings are errors.
func newRedis(t *testing.T, url string) *Redis {
	t.Helper()
	r, err := OpenRedis(url)
	if err != nil {
		t.Fatal(err)
	}
	r.Limit, r.Lease = time.Minute, testLease
	r.Warn = func(message string) { t.Errorf("warning: %s", message) }
	t.Cleanup(func() { r.Close() })
	return r
}
