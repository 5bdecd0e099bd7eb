package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Every file of a circuit is its base name and one of these endings. No base
// name and ending together look like another circuit's, because each listing
// and each opening asks for the whole ending.
const (
	dataEnding    = ".json"
	lockEnding    = ".lock"
	tempEnding    = ".tmp"
	corruptEnding = ".corrupt-" // and the time
	probesEnding  = ".probes"   // a directory of leases
)

// maxName is the longest name, in bytes. maxPlain is the longest that is its
// own file name: with the longest ending it stays below 143 bytes, which is
// what encrypted file systems leave of the usual 255.
const (
	maxName  = 200
	maxPlain = 100
	maxSlug  = 40
)

// PermitPrefix begins the word of a permit, and so no name.
const PermitPrefix = "cb-permit:"

// CheckName returns an error unless the name is non-empty UTF-8 of at most 200
// bytes without control characters, and not a permit.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("the name of a circuit must not be empty")
	case len(name) > maxName:
		return fmt.Errorf("the name of a circuit must not be longer than %d bytes", maxName)
	case !utf8.ValidString(name):
		return fmt.Errorf("name %q is not valid UTF-8", name)
	case strings.HasPrefix(name, PermitPrefix):
		return fmt.Errorf("name %q has the form of a permit", name)
	case strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("name %q has control characters", name)
	}
	return nil
}

// baseName returns the part that the names of a circuit's files have in
// common. Distinct names get distinct ones, also where case is folded: a plain
// name has no "~", and the others are told apart by their hash.
func baseName(name string) string {
	if isPlain(name) {
		return name
	}
	hash := sha256.Sum256([]byte(name))
	return slug(name) + "~" + hex.EncodeToString(hash[:8])
}

// FileName returns the name of the file that holds a circuit in a directory.
func FileName(name string) string { return baseName(name) + dataEnding }

// isPlain reports whether a name can be a file name on every system as it is.
func isPlain(name string) bool {
	if name == "" || len(name) > maxPlain || name[0] == '.' || name[0] == '_' || name[0] == '-' {
		return false
	}
	for _, r := range []byte(name) {
		if !plainByte(r) {
			return false
		}
	}
	return !isReserved(name)
}

func plainByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '.' || b == '_' || b == '-'
}

// isReserved reports whether Windows takes a lower-case name for a device,
// which it does whatever follows the first dot.
func isReserved(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	switch stem {
	case "con", "prn", "aux", "nul":
		return true
	}
	device, number := stem[:min(3, len(stem))], stem[min(3, len(stem)):]
	return (device == "com" || device == "lpt") && len(number) == 1 && number >= "0" && number <= "9"
}

// slug keeps what people recognise of a name.
func slug(name string) string {
	var text strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case text.Len() == maxSlug:
			return text.String()
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			text.WriteRune(r)
		case text.Len() > 0 && !strings.HasSuffix(text.String(), "-"):
			text.WriteByte('-')
		}
	}
	if text.Len() == 0 {
		return "circuit"
	}
	return text.String()
}

// isHashed reports whether a base name has the form of one with a hash.
func isHashed(base string) bool {
	slug, hash, ok := strings.Cut(base, "~")
	if !ok || slug == "" || len(hash) != 16 {
		return false
	}
	_, err := hex.DecodeString(hash)
	return err == nil
}
