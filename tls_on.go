//go:build !unix || tls

package main

import (
	"cb/internal/redis"
	"cb/internal/tlsconn"
)

// secure lets the store use TLS.
func secure() redis.Secure { return tlsconn.Client }
