package redis

import (
	"bufio"
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for url, want := range map[string]Target{
		"redis://host":                      {Network: "tcp", Addrs: []string{"host:6379"}},
		"redis://host:1/7":                  {Network: "tcp", Addrs: []string{"host:1"}, DB: 7},
		"valkey://host?db=7":                {Network: "tcp", Addrs: []string{"host:6379"}, DB: 7},
		"Redis://me:p%40ss:w/rd@host":       {Network: "tcp", Addrs: []string{"host:6379"}, User: "me", Password: "p@ss:w/rd"},
		"redis://:a@b@host":                 {Network: "tcp", Addrs: []string{"host:6379"}, Password: "a@b"},
		"redis://[::1]:77":                  {Network: "tcp", Addrs: []string{"[::1]:77"}},
		"redis://[::1]":                     {Network: "tcp", Addrs: []string{"[::1]:6379"}},
		"rediss://h?ca=a&cert=b&key=c":      {Network: "tcp", Addrs: []string{"h:6379"}, TLS: true, CA: "a", Cert: "b", Key: "c"},
		"valkeys://h?server-name=x":         {Network: "tcp", Addrs: []string{"h:6379"}, TLS: true, ServerName: "x"},
		"unix:///run/a.sock?db=2":           {Network: "unix", Addrs: []string{"/run/a.sock"}, DB: 2},
		"unix://me:pw@/run/a.sock":          {Network: "unix", Addrs: []string{"/run/a.sock"}, User: "me", Password: "pw"},
		"redis://me@h?password-file=/run/p": {Network: "tcp", Addrs: []string{"h:6379"}, User: "me", PasswordFile: "/run/p"},
		"redis+cluster://a,b:7000":          {Mode: Cluster, Network: "tcp", Addrs: []string{"a:6379", "b:7000"}},
		"rediss+sentinel://u:p@a:1,b/main/3?sentinel-user=s&sentinel-password=t": {
			Mode: Sentinel, Network: "tcp", Addrs: []string{"a:1", "b:26379"}, Master: "main", DB: 3, TLS: true,
			User: "u", Password: "p", SentinelUser: "s", SentinelPassword: "t",
		},
	} {
		got, others, err := Parse(url)
		got.scheme = ""
		if err != nil || len(others) > 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("Parse(%q) = %+v, %v, %v, want %+v", url, got, others, err, want)
		}
	}
	for _, url := range []string{
		"", "redis", "http://host", "redis://", "redis://,", "redis://host:", "redis://host:99999", "redis://a b:c:d", "redis://host/-1",
		"redis://host/1/2", "redis://a,b", "unix://run/x", "unix://", "unix+cluster:///x", "redis+nosuch://x", "redis+sentinel://a",
		"redis+cluster://a/1", "redis://h?db=x", "redis://h?a=%zz", "redis://h?sentinel-user=x", "rediss://h?key=x", "redis://%zz@h",
	} {
		if got, _, err := Parse(url); err == nil {
			t.Errorf("Parse(%q) = %+v, want an error", url, got)
		}
	}
}

func TestTargetShowsNoSecrets(t *testing.T) {
	for url, want := range map[string]string{
		"redis://me:pw@host/3?prefix=x":                            "redis://host:6379/3",
		"unix://me:pw@/run/a.sock?db=2":                            "unix:///run/a.sock",
		"valkeys+sentinel://me:pw@a,b/main/2?sentinel-password=pw": "valkeys+sentinel://a:26379,b:26379/main/2",
	} {
		if got, _, _ := Parse(url); got.String() != want {
			t.Errorf("%s shows as %s, want %s", url, got, want)
		}
	}
}

// FuzzParse wants that no URL crashes it, and that no error shows a password.
func FuzzParse(f *testing.F) {
	for _, tail := range []string{"host", "host:1/2?ca=x", "a,b/c", "/run/x", "host?db=%zz", "[::1", "host/x"} {
		f.Add("redis", tail)
		f.Add("redis+sentinel", tail)
		f.Add("unix", tail)
	}
	f.Fuzz(func(t *testing.T, scheme, tail string) {
		const secret = "pa55w0rd"
		got, _, err := Parse(scheme + "://me:" + secret + "@" + tail)
		if err != nil && strings.Contains(err.Error(), secret) || strings.Contains(got.String(), secret) {
			t.Errorf("%s://…@%s: %v, %v", scheme, tail, got, err)
		}
	})
}

func TestReplies(t *testing.T) {
	for text, want := range map[string]Reply{
		"+OK\r\n":                              "OK",
		"-ERR no\r\n":                          ServerError("ERR no"),
		":-12\r\n":                             int64(-12),
		"$-1\r\n":                              nil,
		"*-1\r\n":                              nil,
		"$0\r\n\r\n":                           "",
		"$4\r\na\r\nb\r\n":                     "a\r\nb",
		"*2\r\n:1\r\n*2\r\n$1\r\nx\r\n$-1\r\n": []Reply{int64(1), []Reply{"x", nil}},
	} {
		got, err := readReply(bufio.NewReader(strings.NewReader(text)), 0)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %#v, %v, want %#v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "\r\n", "+OK", "+OK\n", ":x\r\n", "$x\r\n", "$-2\r\n", "$99999999999\r\n", "$5\r\nab\r\n", "*9999999999\r\n", "*1\r\n", "HTTP/1.1\r\n",
		strings.Repeat("*1\r\n", 100) + "+OK\r\n", "+" + strings.Repeat("x", 1<<20),
	} {
		if got, err := readReply(bufio.NewReader(strings.NewReader(text)), 0); err == nil {
			t.Errorf("%.20q is %#v, want an error", text, got)
		}
	}
}

// FuzzReply wants that no bytes crash it or fill the memory.
func FuzzReply(f *testing.F) {
	f.Add([]byte("*2\r\n$1\r\nx\r\n:1\r\n"))
	f.Add(appendCommand(nil, []string{"GET", "x"}))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = readReply(bufio.NewReader(bytes.NewReader(data)), 0)
	})
}

func TestTroubleOfScripts(t *testing.T) {
	for text, want := range map[string]string{
		"READONLY You can't write against a read only replica. script: 4e2d, on @user_script:1.":                       "READONLY",
		"ERR Error running script (call to f_1): @user_script:9: @user_script: 9: -READONLY You can't write against a": "READONLY",
		"ERR Error running script (call to f_1): @user_script:3: WRONGTYPE Operation against a key":                    "WRONGTYPE",
		"NOSCRIPT No matching script. Please use EVAL.":                                                                "NOSCRIPT",
	} {
		if got := code(text); got != want {
			t.Errorf("%q has the code %s, want %s", text, got, want)
		}
	}
	if got := explain("10.0.0.1:7000", "MOVED 3999 :7001").Addr; got != "10.0.0.1:7001" {
		t.Errorf("MOVED leads to %s", got)
	}
}
