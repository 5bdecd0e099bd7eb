//go:build unix && !tls

package main

import "cb/internal/redis"

// secure is nil: where the store needs TLS, this program becomes the one that
// is built with the tag tls.
func secure() redis.Secure { return nil }
