package breaker

import (
	"strconv"
	"strings"
	"testing"
)

// storyPolicy returns threshold 3, timeout 60s and the defaults, changed by
// what the text names: "window=10,threshold=5". As on the command line a
// failure rate stands for itself, without the threshold that nobody asked for.
func storyPolicy(t *testing.T, text string) Policy {
	t.Helper()
	p := Default()
	p.Threshold = 3
	set := func(flag, value string) {
		t.Helper()
		if err := setPolicy(&p, flag, value); err != nil {
			t.Fatalf("policy {%s}: %s: %v", text, flag, err)
		}
	}
	set("timeout", "60s")
	for option := range strings.SplitSeq(text, ",") {
		if option != "" {
			flag, value, _ := strings.Cut(option, "=")
			set(flag, value)
		}
	}
	if p.FailureRate > 0 && !strings.Contains(text, "threshold=") {
		p.Threshold = 0
	}
	if err := p.Validate(); err != nil {
		t.Fatalf("policy {%s}: %v", text, err)
	}
	return p
}

func setPolicy(p *Policy, flag, value string) (err error) {
	switch flag {
	case "threshold":
		p.Threshold, err = strconv.Atoi(value)
	case "window":
		if p.WindowCalls, err = strconv.Atoi(value); err != nil {
			p.WindowCalls = 0
			p.WindowSpan, err = ParseDuration(value)
		}
	case "failure-rate":
		p.FailureRate, err = strconv.Atoi(value)
	case "min-calls":
		p.MinCalls, err = strconv.Atoi(value)
	case "failure-ttl":
		p.FailureTTL, err = ParseDuration(value)
	case "timeout":
		p.Timeout, err = ParseDuration(value)
	case "backoff":
		p.Backoff, err = strconv.ParseFloat(value, 64)
	case "max-timeout":
		p.MaxTimeout, err = ParseDuration(value)
	case "jitter":
		p.Jitter, err = strconv.Atoi(value)
	case "probes":
		p.Probes, err = strconv.Atoi(value)
	case "successes":
		m, n, isRatio := strings.Cut(value, "/")
		if p.Successes, err = strconv.Atoi(m); err == nil && isRatio {
			p.Answers, err = strconv.Atoi(n)
		}
	case "probe-limit":
		p.ProbeLimit, err = ParseDuration(value)
	default:
		err = strconv.ErrSyntax
	}
	return err
}

// repeated writes a word once for each number from 1.
func repeated(word string, times int) string {
	var text strings.Builder
	for i := range times {
		text.WriteString(strings.ReplaceAll(word, "%d", strconv.Itoa(i+1)))
	}
	return text.String()
}
