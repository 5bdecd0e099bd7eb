package redis

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Mode says how the servers of a Target belong together.
type Mode uint8

// The modes.
const (
	Single   Mode = iota // one server
	Sentinel             // sentinels, which tell where the master is
	Cluster              // nodes, which tell where a key is
)

// Target says where the servers are and how to greet them.
type Target struct {
	Mode    Mode
	Network string   // "tcp" or "unix"
	Addrs   []string // host:port, or the path of one socket
	Master  string   // the name that the sentinels know it by
	DB      int

	User, Password                 string // empty: none
	PasswordFile                   string // read when a connection is made
	SentinelUser, SentinelPassword string

	TLS           bool
	CA, Cert, Key string // PEM files; empty: the roots of the system, no certificate of ours
	ServerName    string // in the server's certificate, when it is not the host

	scheme string
}

// The default ports.
const (
	redisPort    = "6379"
	sentinelPort = "26379"
)

// Speaks reports whether a URL scheme is one of those that Parse reads.
func Speaks(scheme string) bool {
	_, _, _, ok := readScheme(scheme)
	return ok
}

// readScheme reads redis, rediss, valkey, valkeys, each also with +sentinel or
// +cluster, and unix.
func readScheme(scheme string) (mode Mode, network string, secure, ok bool) {
	base, kind, _ := strings.Cut(strings.ToLower(scheme), "+")
	switch base {
	case "unix":
		return Single, "unix", false, kind == ""
	case "redis", "valkey":
	case "rediss", "valkeys":
		secure = true
	default:
		return 0, "", false, false
	}
	switch kind {
	case "":
		return Single, "tcp", secure, true
	case "sentinel":
		return Sentinel, "tcp", secure, true
	case "cluster":
		return Cluster, "tcp", secure, true
	}
	return 0, "", false, false
}

// Parse reads a URL and returns the options that it does not know itself. Its
// errors never show the URL, which may hold a password.
func Parse(text string) (Target, map[string]string, error) {
	scheme, rest, _ := strings.Cut(text, "://")
	mode, network, secure, ok := readScheme(scheme)
	if !ok {
		return Target{}, nil, errors.New("not the URL of a Redis or Valkey server")
	}
	t := Target{Mode: mode, Network: network, TLS: secure, scheme: strings.ToLower(scheme)}
	rest, query, _ := strings.Cut(rest, "?")
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		if err := t.readUser(rest[:at]); err != nil {
			return Target{}, nil, err
		}
		rest = rest[at+1:]
	}
	if err := t.readPlace(rest); err != nil {
		return Target{}, nil, err
	}
	options, err := t.readOptions(query)
	return t, options, err
}

func (t *Target) readUser(text string) error {
	user, password, _ := strings.Cut(text, ":")
	var wrong, also error
	t.User, wrong = url.PathUnescape(user)
	t.Password, also = url.PathUnescape(password)
	if wrong != nil || also != nil {
		return errors.New("user and password: a % that begins no escape; write %25 for one")
	}
	return nil
}

// readPlace reads host[:port][,host[:port]...][/db], for Sentinel with the
// master's name before the number, or the path of a socket.
func (t *Target) readPlace(text string) error {
	if t.Network == "unix" {
		if !strings.HasPrefix(text, "/") {
			return errors.New("the path of a socket must be absolute, as in unix:///run/redis.sock")
		}
		t.Addrs = []string{text}
		return nil
	}
	hosts, path, _ := strings.Cut(text, "/")
	for host := range strings.SplitSeq(hosts, ",") {
		addr, err := t.address(host)
		if err != nil {
			return err
		}
		t.Addrs = append(t.Addrs, addr)
	}
	if t.Mode == Single && len(t.Addrs) > 1 {
		return fmt.Errorf("several hosts need %[1]s+sentinel:// or %[1]s+cluster://", t.scheme)
	}
	if t.Mode == Sentinel {
		t.Master, path, _ = strings.Cut(path, "/")
		if t.Master == "" {
			return fmt.Errorf("name the master, as in %s://host/mymaster", t.scheme)
		}
	}
	return t.readDB(path)
}

func (t *Target) readDB(text string) error {
	if text == "" {
		return nil
	}
	db, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return fmt.Errorf("%q is not the number of a database", text)
	}
	if t.DB = int(db); t.Mode == Cluster && db > 0 {
		return errors.New("a cluster has database 0 only")
	}
	return nil
}

func (t *Target) address(host string) (string, error) {
	port := redisPort
	if t.Mode == Sentinel {
		port = sentinelPort
	}
	if name, given, err := net.SplitHostPort(host); err == nil {
		host, port = name, given
	}
	host = strings.Trim(host, "[]")
	if _, err := strconv.ParseUint(port, 10, 16); err != nil || host == "" || strings.Contains(host, ":") && net.ParseIP(host) == nil {
		return "", errors.New("a host or its port cannot be read")
	}
	return net.JoinHostPort(host, port), nil
}

// readOptions reads what stands behind the question mark.
func (t *Target) readOptions(query string) (map[string]string, error) {
	given, err := url.ParseQuery(query)
	if err != nil {
		return nil, errors.New("its options cannot be read: a % that begins no escape, or a semicolon")
	}
	mine := map[string]*string{
		"password-file": &t.PasswordFile, "sentinel-user": &t.SentinelUser, "sentinel-password": &t.SentinelPassword,
		"ca": &t.CA, "cert": &t.Cert, "key": &t.Key, "server-name": &t.ServerName,
	}
	others := map[string]string{}
	for name, values := range given {
		value := values[len(values)-1]
		switch field := mine[name]; {
		case field != nil:
			*field = value
		case name == "db":
			if err := t.readDB(value); err != nil {
				return nil, err
			}
		default:
			others[name] = value
		}
	}
	return others, t.validate()
}

func (t *Target) validate() error {
	switch {
	case !t.TLS && (t.CA != "" || t.Cert != "" || t.Key != "" || t.ServerName != ""):
		return errors.New("ca, cert, key and server-name are for TLS: rediss://")
	case (t.Cert == "") != (t.Key == ""):
		return errors.New("cert and key go together")
	case t.Mode != Sentinel && (t.SentinelUser != "" || t.SentinelPassword != ""):
		return errors.New("sentinel-user and sentinel-password are for +sentinel://")
	}
	return nil
}

// Options are the names of the options that Parse knows.
func Options() []string {
	return []string{"ca", "cert", "db", "key", "password-file", "sentinel-password", "sentinel-user", "server-name"}
}

// String is the URL without user, password and options.
func (t Target) String() string {
	text := t.scheme + "://" + strings.Join(t.Addrs, ",")
	if t.Mode == Sentinel {
		text += "/" + t.Master
	}
	if t.DB > 0 && t.Network != "unix" {
		text += "/" + strconv.Itoa(t.DB)
	}
	return text
}

// scrub takes the secrets out of a text that came from a server.
func (t *Target) scrub(text string) string {
	for _, secret := range []string{t.Password, t.SentinelPassword} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}
