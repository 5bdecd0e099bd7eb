package store

import (
	"testing"
	"time"

	"cb/internal/breaker"
)

func TestSystemClock(t *testing.T) {
	first := SystemClock()
	second := SystemClock()
	if d := time.Since(first.Wall); d < -time.Minute || d > time.Minute || first.Wall.Location() != time.UTC {
		t.Errorf("Wall is %v", first.Wall)
	}
	if first.BootID != second.BootID || second.Boot < first.Boot || (first.BootID == "") != (first.Boot == 0) {
		t.Errorf("%+v is followed by %+v", first, second)
	}
}

// TestInstantsFollowTheBootClock sets the wall clock between two updates.
func TestInstantsFollowTheBootClock(t *testing.T) {
	start := Reading{Wall: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), BootID: "one", Boot: time.Hour}
	after := func(wall, boot time.Duration, id string) Reading {
		return Reading{Wall: start.Wall.Add(wall), BootID: id, Boot: start.Boot + boot}
	}
	for _, test := range []struct {
		name string
		now  Reading
		want time.Duration // from now to the probe
	}{
		{"nothing set", after(time.Minute, time.Minute, "one"), 4 * time.Minute},
		{"set forward a day", after(24*time.Hour+time.Minute, time.Minute, "one"), 4 * time.Minute},
		{"set back a day", after(-24*time.Hour+time.Minute, time.Minute, "one"), 4 * time.Minute},
		{"slept, both clocks go on", after(10*time.Minute, 10*time.Minute, "one"), -5 * time.Minute},
		{"slewed within a second", after(time.Minute+time.Second, time.Minute, "one"), 4*time.Minute - time.Second},
		{"another boot", after(time.Minute, -time.Hour, "two"), 4 * time.Minute},
		{"another boot, set back", after(-time.Hour, -time.Hour, "two"), 5 * time.Minute},
		{"another boot, set back, some time ago", after(-24*time.Hour, -58*time.Minute, "two"), 3 * time.Minute},
		{"another boot, set back, a period ago", after(-24*time.Hour, -55*time.Minute, "two"), 0},
		{"another machine, whose clock is a little behind", after(-time.Second, 24*time.Hour, "two"), 5*time.Minute + time.Second},
		{"set back, and no boot clock", Reading{Wall: start.Wall.Add(-time.Hour)}, 65 * time.Minute}, // the core clamps it
		{"no boot clock", Reading{Wall: start.Wall.Add(time.Minute)}, 4 * time.Minute},
		{"a boot clock that runs backwards", after(time.Minute, -time.Minute, "one"), 4 * time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDir(t)
			now := start
			d.Clock = func() Reading { return now }
			update(t, d, "deploy", func(c breaker.Circuit, at time.Time) (breaker.Circuit, error) {
				return c.Trip(breaker.Order{At: at, For: 5 * time.Minute, Seed: 1}), nil
			})
			now = test.now
			c, at, _, err := d.Read("deploy")
			if got := c.RetryAt.Sub(at); err != nil || got != test.want {
				t.Errorf("Read: a probe is due in %v, want %v, %v", got, test.want, err)
			}
			for range 2 { // the shift is written once and not repeated
				update(t, d, "deploy", func(c breaker.Circuit, at time.Time) (breaker.Circuit, error) {
					if got := c.RetryAt.Sub(at); got != test.want {
						t.Errorf("Update: a probe is due in %v, want %v", got, test.want)
					}
					c.Totals.Refused++
					return c, nil
				})
			}
		})
	}
}

func TestAShiftAloneIsNotWritten(t *testing.T) {
	d := newDir(t)
	now := Reading{Wall: time.Unix(1e9, 0).UTC(), BootID: "one", Boot: time.Hour}
	d.Clock = func() Reading { return now }
	update(t, d, "deploy", put(breaker.Circuit{Since: now.Wall}))
	before := snapshotOf(t, d.Path)
	now.Wall = now.Wall.Add(time.Hour)
	update(t, d, "deploy", func(c breaker.Circuit, at time.Time) (breaker.Circuit, error) {
		if !c.Since.Equal(at) {
			t.Errorf("it is since %v at %v", c.Since, at)
		}
		return c, nil
	})
	if after := snapshotOf(t, d.Path); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}
