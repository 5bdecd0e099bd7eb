//go:build unix

package main

import (
	"errors"
	"strings"
	"testing"
)

func TestParseCount(t *testing.T) {
	for said, want := range map[string]int64{
		"==6813== Cachegrind, a cache and branch-prediction profiler\n==6813== \n==6813== I   refs:      1,460,472\n": 1_460_472,
		"==1== I refs:        812\n":                                       812, // since valgrind 3.21
		"==1== I   refs:      1,460,472\n==1== I1  misses:        1,001\n": 1_460_472,
		"valgrind: failed to start tool":                                   0,
		"==1== D   refs:      1,460\n":                                     0,
		"":                                                                 0,
	} {
		if n, ok := parseCount(said); n != want || ok != (want > 0) {
			t.Errorf("%q: %d, %v, want %d", said, n, ok, want)
		}
	}
}

func TestBaselineComesBack(t *testing.T) {
	works := []work{{name: "minimal run"}, {name: "run, full window", beside: "minimal run"}}
	b := newBaseline()
	b.counts["minimal run"], b.counts["run, full window"] = 319_920, 8_386_371
	back, err := parseBaseline(b.format(works))
	if err != nil || back.version != b.version || back.platform != b.platform || back.format(works) != b.format(works) {
		t.Errorf("%+v, %v, want %+v", back, err, b)
	}
	if err := back.fits(); err != nil {
		t.Errorf("a baseline made here does not fit: %v", err)
	}
	for _, text := range []string{"go1.26.8 linux/amd64\nrun\n", "go1.26.8 linux/amd64\nrun many\n", "go1.26.8 linux/amd64\nrun 0\n"} {
		if _, err := parseBaseline(text); err == nil {
			t.Errorf("%q is taken for a baseline", text)
		}
	}
}

func TestBaselineOfAnotherGoOrPlatform(t *testing.T) {
	older, elsewhere := newBaseline(), newBaseline()
	older.version, elsewhere.platform = "go1.1", "linux/pdp11"
	for _, b := range []baseline{older, elsewhere} {
		if err := b.fits(); !errors.Is(err, errSkipped) {
			t.Errorf("%s %s: %v", b.version, b.platform, err)
		}
	}
}

func TestCheck(t *testing.T) {
	works := []work{{name: "minimal run"}, {name: "closed run", beside: "minimal run"}, {name: "refusal", beside: "minimal run"}}
	was := baseline{counts: map[string]int64{"minimal run": 1000, "closed run": 2000, "refusal": 3000}}
	for name, c := range map[string]struct {
		minimal, run, refusal int64
		want                  string // what the error tells; "": no error
	}{
		"the same":            {1000, 2000, 3000, ""},
		"cheaper":             {1000, 1000, 3000, ""},
		"below the limit":     {1000, 2099, 3149, ""},
		"a little above":      {1000, 2102, 3000, "closed run: 2102 instructions, +5.1%"},
		"ten percent":         {1000, 2000, 3300, "refusal: 3300 instructions, +10.0%"},
		"both":                {1000, 2200, 3300, "refusal: 3300"},
		"another processor":   {1100, 2200, 3300, "the minimal run, which is not cb"},
		"a cheaper processor": {900, 2200, 3300, "the minimal run, which is not cb"},
	} {
		is := baseline{counts: map[string]int64{"minimal run": c.minimal, "closed run": c.run, "refusal": c.refusal}}
		err := was.check(is, works)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if errors.Is(err, errSkipped) != (c.minimal != 1000) {
			t.Errorf("%s: skipped: %v", name, err)
		}
	}
	delete(was.counts, "refusal")
	if err := was.check(was, works); err == nil || !strings.Contains(err.Error(), "refusal: not in") {
		t.Errorf("a work without a baseline: %v", err)
	}
}
