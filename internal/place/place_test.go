package place

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/adrg/xdg"
)

// ownHome is the home directory of the user who runs the tests, or "".
func ownHome() string {
	if home := passwdHome("/etc/passwd", os.Getuid()); Usable(home) {
		return home
	}
	return ""
}

func TestState(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths are those of Unix")
	}
	fallback := ""
	if home := ownHome(); home != "" {
		fallback = filepath.Join(below(home, xdg.StateHome, ".local/state"), "cb")
	}
	for name, test := range map[string]struct {
		env  map[string]string
		want string
	}{
		"XDG_STATE_HOME":                 {map[string]string{"XDG_STATE_HOME": "/x/state", "HOME": "/h", "STATE_DIRECTORY": "/s"}, "/x/state/cb"},
		"a relative XDG_STATE_HOME":      {map[string]string{"XDG_STATE_HOME": "x", "HOME": "/h"}, "/h/.local/state/cb"},
		"XDG_STATE_HOME with a tilde":    {map[string]string{"XDG_STATE_HOME": "~/x", "HOME": "/h"}, "/h/.local/state/cb"},
		"XDG_STATE_HOME is /":            {map[string]string{"XDG_STATE_HOME": "/", "HOME": "/h"}, "/h/.local/state/cb"},
		"HOME":                           {map[string]string{"HOME": "/h"}, "/h/.local/state/cb"},
		"HOME before STATE_DIRECTORY":    {map[string]string{"HOME": "/h", "STATE_DIRECTORY": "/s"}, "/h/.local/state/cb"},
		"a service":                      {map[string]string{"STATE_DIRECTORY": "/var/lib/job"}, "/var/lib/job"},
		"a service with two directories": {map[string]string{"STATE_DIRECTORY": "/var/lib/job:/var/lib/b"}, "/var/lib/job"},
		"nothing":                        {nil, fallback},
		"HOME is /":                      {map[string]string{"HOME": "/"}, fallback},
		"HOME is //":                     {map[string]string{"HOME": "//"}, fallback},
		"HOME is /tmp":                   {map[string]string{"HOME": "/tmp/"}, fallback},
		"HOME is relative":               {map[string]string{"HOME": "h"}, fallback},
		"STATE_DIRECTORY is /":           {map[string]string{"STATE_DIRECTORY": "/"}, fallback},
	} {
		got, why, err := State(func(key string) string { return test.env[key] })
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s: %q, %v, want %q", name, got, err, test.want)
		}
		if want := reason(test.env, got, fallback); why != want {
			t.Errorf("%s: because of %q, want %q", name, why, want)
		}
	}
}

// reason is the variable whose directory was taken.
func reason(env map[string]string, dir, fallback string) string {
	for _, name := range []string{"XDG_STATE_HOME", "HOME", "STATE_DIRECTORY"} {
		if value, _, _ := strings.Cut(env[name], ":"); Usable(value) && strings.HasPrefix(dir, value) {
			return name
		}
	}
	if fallback == "" {
		return ""
	}
	return "the password file"
}

func TestConfig(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths are those of Unix")
	}
	fallback := ""
	if home := ownHome(); home != "" {
		fallback = filepath.Join(below(home, xdg.ConfigHome, ".config"), "cb", "config.toml")
	}
	for name, test := range map[string]struct {
		env  map[string]string
		want string
	}{
		"XDG_CONFIG_HOME":              {map[string]string{"XDG_CONFIG_HOME": "/x/config", "HOME": "/h"}, "/x/config/cb/config.toml"},
		"a relative XDG_CONFIG_HOME":   {map[string]string{"XDG_CONFIG_HOME": "x", "HOME": "/h"}, "/h/.config/cb/config.toml"},
		"XDG_CONFIG_HOME with a tilde": {map[string]string{"XDG_CONFIG_HOME": "~/x", "HOME": "/h"}, "/h/.config/cb/config.toml"},
		"HOME":                         {map[string]string{"HOME": "/h"}, "/h/.config/cb/config.toml"},
		"nothing":                      {nil, fallback},
		"HOME is /":                    {map[string]string{"HOME": "/"}, fallback},
		"HOME is relative":             {map[string]string{"HOME": "h"}, fallback},
	} {
		if got := Config(func(key string) string { return test.env[key] }); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestPasswdHome(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(t.TempDir(), "passwd")
	text := "# comment\nroot:x:0:0:root:/:/bin/sh\nbroken:x:7\nme:x:1000:1000:,,,:" + home +
		":/bin/sh\nnobody:x:65534:65534:n:/nonexistent:/bin/false\nlast:x:12:12:l:" + home + ":/bin/sh"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for uid, want := range map[int]string{0: "/", 1000: home, 65534: "", 7: "", 100: "", 12: home} {
		if got := passwdHome(file, uid); got != want {
			t.Errorf("user %d: %q, want %q", uid, got, want)
		}
	}
	if got := passwdHome(file+"x", 0); got != "" {
		t.Errorf("without a file: %q", got)
	}
}
