package store

import (
	"testing"

	"cb/internal/redis"
)

// FuzzAnswer wants that no reply of a server crashes what reads it, whatever
// is in it and wherever it ends, and that a circuit is only made of a document.
func FuzzAnswer(f *testing.F) {
	good, err := encode(document{Name: "deploy", Clock: SystemClock(), Circuit: typical(SystemClock().Wall)}, snapshot{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("1772373600", "5", string(good), "v", "ab", int64(1), 5)
	f.Add("1772373600", "5", "", "v", "", int64(0), 5)
	f.Add("x", "-1", "{", "", "", int64(-1), 4)
	f.Add("99999999999999999", "9223372036854775807", "null", "v", "ab", int64(0), 6)
	f.Fuzz(func(t *testing.T, seconds, micros, data, version, token string, number int64, length int) {
		fields := []redis.Reply{seconds, micros, data, version, []redis.Reply{token, nil, number}, nil, redis.ServerError(data)}
		for _, reply := range []redis.Reply{
			number, nil, data, redis.ServerError(data), fields[:max(0, min(length, len(fields)))],
			[]redis.Reply{number, micros, data, version, token},
			[]redis.Reply{seconds, micros, number, version, nil},
			[]redis.Reply{seconds, micros, data, nil, nil},
		} {
			at, err := readAnswer(reply)
			if err != nil {
				continue
			}
			c, _, found, err := at.view("deploy")
			if err == nil && found {
				if err := c.Validate(); err != nil || !at.found {
					t.Fatalf("%q is taken for %+v: %v", data, c, err)
				}
			}
		}
	})
}
