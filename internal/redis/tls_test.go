package redis_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cb/internal/redis"
	"cb/internal/redistest"
	"cb/internal/tlsconn"
)

// authority signs certificates into a directory.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	a.cert, a.key = a.sign("ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

func (a *authority) path(name string) string { return filepath.Join(a.dir, name) }

// sign writes NAME.crt and NAME.key.
func (a *authority) sign(name string, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template.SerialNumber, template.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := template, key
	if a.cert != nil {
		parent, signer = a.cert, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		name + ".crt": {Type: "CERTIFICATE", Bytes: der}, name + ".key": {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(a.path(file), pem.EncodeToMemory(block), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert, key
}

func TestTLS(t *testing.T) {
	a := newAuthority(t)
	a.sign("server", &x509.Certificate{DNSNames: []string{"cache.example"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}})
	a.sign("client", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	s := redistest.StartTLS(t, a.path("server.crt"), a.path("server.key"), a.path("ca.crt"))
	ca, own := "?ca="+a.path("ca.crt"), "&cert="+a.path("client.crt")+"&key="+a.path("client.key")
	for options, want := range map[string]string{
		ca + own:                                "",
		ca + own + "&server-name=cache.example": "",
		ca + own + "&server-name=other.example": "not other.example",
		own:                                     "unknown authority",
		ca:                                      "certificate required",
		"?ca=" + a.path("client.key") + own:     "holds no certificate",
		"?ca=" + a.path("nosuch") + own:         "no such file or directory",
		ca + "&cert=" + a.path("ca.crt") + "&key=" + a.path("client.key"): "private key does not match",
	} {
		target, _, err := redis.Parse("rediss://" + s.Addr + "/" + "?" + strings.TrimLeft(options, "?&"))
		if err != nil {
			t.Fatal(err)
		}
		c := redis.Client{Target: target, Secure: tlsconn.Client}
		ctx, done := context.WithTimeout(context.Background(), 5*time.Second)
		_, err = c.Do(ctx, redis.Command{Words: []string{"PING"}})
		done()
		c.Close()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", options, err, want)
		}
	}
}

func TestPasswordFile(t *testing.T) {
	s := redistest.Start(t, "--requirepass", "pa55word")
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("pa55word\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	target, _, err := redis.Parse(s.URL() + "?password-file=" + file)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.Client{Target: target}
	defer c.Close()
	if reply, err := c.Do(context.Background(), redis.Command{Words: []string{"PING"}}); reply != "PONG" || err != nil {
		t.Errorf("%v, %v", reply, err)
	}
}
