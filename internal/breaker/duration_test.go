package breaker

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

const longest = time.Duration(math.MaxInt64)

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s":                        90 * time.Second,
		"1h30m":                      90 * time.Minute,
		"2d":                         48 * time.Hour,
		"1d12h":                      36 * time.Hour,
		"1d1.5s":                     24*time.Hour + 1500*time.Millisecond,
		"1.5h":                       90 * time.Minute,
		"1ms":                        time.Millisecond,
		"1000us":                     time.Millisecond,
		"1000µs":                     time.Millisecond,
		"0d1ms":                      time.Millisecond,
		"007d":                       7 * 24 * time.Hour,
		"106751d":                    106751 * 24 * time.Hour,
		"106751d23h47m16.854775807s": longest,
		"2562047h47m16.854775807s":   longest,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestParseDurationRefuses(t *testing.T) {
	for _, text := range []string{
		"", " ", "d", "5", "5 s", "s", "h", "-5s", "-0s", "+5s", "-1d", "1d-1h", "1d-0s", "1d+1h", "+1d", "1.5d", "1h1d", "1dd", "1d2d", "1w", "1D",
		"١d", "forever", "1e3s",
	} {
		got, err := ParseDuration(text)
		if err == nil {
			t.Errorf("%q is %v", text, got)
		} else if !strings.Contains(err.Error(), "is not a duration such as") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"106752d", "106751d23h47m16.854775808s", "99999999999999999999d", "9999999h", "2562048h", "99999999999999999999h"} {
		if got, err := ParseDuration(text); !errors.Is(err, ErrTooLong) {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"0", "0s", "0d", "0d0s", "1ns", "999us", "0.9ms", "999999ns"} {
		if got, err := ParseDuration(text); err == nil || err.Error() != "must be 1ms or longer" {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s":                         0,
		"1ns":                        1,
		"1ms":                        time.Millisecond,
		"1.5s":                       1500 * time.Millisecond,
		"10s":                        10 * time.Second,
		"5m":                         5 * time.Minute,
		"10m":                        10 * time.Minute,
		"10m10s":                     10*time.Minute + 10*time.Second,
		"1h":                         time.Hour,
		"1h0m5s":                     time.Hour + 5*time.Second,
		"10h10m":                     10*time.Hour + 10*time.Minute,
		"23h59m59s":                  24*time.Hour - time.Second,
		"1d":                         24 * time.Hour,
		"2d3h":                       51 * time.Hour,
		"1d5ms":                      24*time.Hour + 5*time.Millisecond,
		"106751d23h47m16.854775807s": longest,
		"-5m":                        -5 * time.Minute,
		"-2d":                        -48 * time.Hour,
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("%v is written %q, want %q", d, got, want)
		}
	}
	if got := FormatDuration(math.MinInt64); !strings.HasPrefix(got, "-106751d") {
		t.Errorf("the shortest duration is written %q", got)
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, seed := range []string{"90s", "1h30m", "2d", "1d12h", "106751d23h47m16.854775807s", "1d-0s", "0.001s", "1µs", "-5m", "d", "1e9h"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDuration(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: the message has more than one line: %v", text, err)
			}
			return
		}
		if d < MinDuration {
			t.Errorf("%q is %v, which no policy accepts", text, d)
		}
		if again, err := ParseDuration(FormatDuration(d)); err != nil || again != d {
			t.Errorf("%q is written as %q, which is %v, %v", text, FormatDuration(d), again, err)
		}
	})
}

func FuzzFormatDuration(f *testing.F) {
	for _, seed := range []time.Duration{MinDuration, time.Minute, time.Hour, day, day + 1, longest} {
		f.Add(int64(seed))
	}
	f.Fuzz(func(t *testing.T, n int64) {
		d := time.Duration(n)
		text := FormatDuration(d)
		if again, err := ParseDuration(text); (err == nil) != (d >= MinDuration) || err == nil && again != d {
			t.Errorf("%v is written as %q, which is %v, %v", d, text, again, err)
		}
	})
}
