// Package place finds where cb's own files belong when nobody says.
package place

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/adrg/xdg"
)

// State returns the directory of the store for a user who names none: below
// an absolute XDG_STATE_HOME, else, when HOME is not set, the
// STATE_DIRECTORY that systemd gives to a service, else below the home
// directory. why names what decided. Its error says that there is no such
// place: / and /tmp are none.
func State(getenv func(string) string) (dir, why string, err error) {
	if state := getenv("XDG_STATE_HOME"); Usable(state) {
		return filepath.Join(state, "cb"), "XDG_STATE_HOME", nil
	}
	home, why := getenv(homeVariable), homeVariable
	if !Usable(home) {
		// systemd separates several directories by colons.
		service, _, _ := strings.Cut(getenv("STATE_DIRECTORY"), string(os.PathListSeparator))
		if home == "" && Usable(service) {
			return filepath.Clean(service), "STATE_DIRECTORY", nil
		}
		home, why = passwdHome("/etc/passwd", os.Getuid()), "the password file"
	}
	if !Usable(home) {
		return "", "", errors.New("no home directory to keep circuits in; set CB_STORE or --store")
	}
	return filepath.Join(below(home, xdg.StateHome, ".local/state"), "cb"), why, nil
}

// Config returns the configuration file of a user who names none: below an
// absolute XDG_CONFIG_HOME, else below the home directory. It returns "" when
// there is no such place.
func Config(getenv func(string) string) string {
	if config := getenv("XDG_CONFIG_HOME"); Usable(config) {
		return filepath.Join(config, "cb", "config.toml")
	}
	home := getenv(homeVariable)
	if !Usable(home) {
		home = passwdHome("/etc/passwd", os.Getuid())
	}
	if !Usable(home) {
		return ""
	}
	return filepath.Join(below(home, xdg.ConfigHome, ".config"), "cb", "config.toml")
}

// Usable reports whether a directory of the environment can be believed. With
// HOME=/ a daemon would write to the root directory, and what lies at a known
// place in /tmp may be anybody's.
func Usable(dir string) bool {
	if !filepath.IsAbs(dir) {
		return false
	}
	clean := filepath.Clean(dir)
	return clean != filepath.VolumeName(clean)+string(filepath.Separator) && clean != "/tmp"
}

// below returns where a kind of file is kept below a home directory. xdg knows
// it for all systems, but only for the home that it has found itself: without
// HOME it takes /, and it takes a relative one for none.
func below(home, known, otherwise string) string {
	if xdg.Home == home && Usable(known) {
		return known
	}
	return filepath.Join(home, filepath.FromSlash(otherwise))
}

// passwdHome returns the home directory of a user in a file like /etc/passwd,
// or "" when it does not exist.
func passwdHome(file string, uid int) string {
	home := passwdField(file, uid, 5)
	if info, err := os.Stat(home); err == nil && info.IsDir() {
		return home
	}
	return ""
}

// UserName returns the name of a user of this machine, "" when none is known.
func UserName(uid int) string { return passwdField("/etc/passwd", uid, 0) }

// passwdField returns a field of a user's line in a file like /etc/passwd. The
// package os/user would do that, but asks the C library and so makes the
// program start slowly.
func passwdField(file string, uid, field int) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) >= 7 && fields[2] == strconv.Itoa(uid) {
			return fields[field]
		}
	}
	return ""
}
