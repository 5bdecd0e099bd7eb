package store

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"cb/internal/breaker"
)

// typical returns a circuit as it is after a while of use.
func typical(now time.Time) breaker.Circuit {
	var c breaker.Circuit
	p := breaker.Default()
	for i := range 60 {
		next, permit, err := c.Admit(p, now, breaker.Caller{}, uint64(i))
		if err != nil {
			now = now.Add(10 * time.Minute)
			c = next
			continue
		}
		outcome := breaker.Success
		if i%20 > 15 {
			outcome = breaker.Failure
		}
		c = next.Record(p, permit, breaker.Call{At: now, Outcome: outcome, Took: time.Second}, uint64(i))
	}
	return c
}

func put(c breaker.Circuit) func(breaker.Circuit, time.Time) (breaker.Circuit, error) {
	return func(breaker.Circuit, time.Time) (breaker.Circuit, error) { return c, nil }
}

func BenchmarkUpdate(b *testing.B) {
	for _, write := range []bool{false, true} {
		b.Run(fmt.Sprintf("write=%v", write), func(b *testing.B) {
			d := &Dir{Path: b.TempDir(), Clock: SystemClock}
			c := typical(SystemClock().Wall)
			if err := d.Update(context.Background(), "deploy", put(c)); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				err := d.Update(context.Background(), "deploy", func(c breaker.Circuit, _ time.Time) (breaker.Circuit, error) {
					if write {
						c.Totals.Successes++
					}
					return c, nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	d := &Dir{Path: b.TempDir(), Clock: SystemClock}
	if err := d.Update(context.Background(), "deploy", put(typical(SystemClock().Wall))); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, _, err := d.Read("deploy"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkList10000(b *testing.B) {
	d := &Dir{Path: filepath.Join(b.TempDir(), "store"), Clock: SystemClock}
	fill(b, d, 10000)
	b.ResetTimer()
	for b.Loop() {
		n := 0
		for _, err := range d.List() {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 10000 {
			b.Fatalf("%d circuits", n)
		}
	}
}

// fill writes circuits without the cost of making them durable.
func fill(t testing.TB, d *Dir, n int) {
	t.Helper()
	dir, err := makeFolder(d.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	now := d.Clock()
	c := typical(now.Wall)
	for i := range n {
		name := fmt.Sprintf("circuit-%05d", i)
		data, err := encode(document{Name: name, Clock: now, Circuit: c}, snapshot{})
		if err != nil {
			t.Fatal(err)
		}
		if err := dir.WriteFile(name+dataEnding, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	data, err := encode(document{Name: "deploy", Clock: SystemClock(), Circuit: typical(SystemClock().Wall)}, snapshot{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := decode(data, "deploy"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkClock(b *testing.B) {
	for b.Loop() {
		SystemClock()
	}
}
