package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"cb/internal/place"
	"cb/internal/render"
	"cb/internal/store"
)

// lowSpace is the free space, in bytes, below which there is a warning. A
// circuit takes a few thousand.
const lowSpace = 10 << 20

// clockGap is how far the clock of a server may be from that of this machine.
// Only what cb says of instants is off by it: open periods are the server's.
const clockGap = 5 * time.Second

// store finds the store and checks it.
func (d *doctor) store() {
	const check = "store"
	path, source, err := d.env.storeSetting(d.command.Flags(), storeFlag)
	if path == "" && err == nil {
		path, source, err = place.State(d.env.getenv)
	}
	if err != nil {
		d.fail(check, err, "name a directory")
		return
	}
	circuits, err := d.env.openStore(d.command)
	if err != nil && !isUsage(err) {
		d.fail(check, err, "each release has it; from source: go build -tags tls -o cb-tls .")
		return
	}
	if err != nil {
		d.fail(check, err, "")
		return
	}
	defer circuits.Close()
	d.note(render.Good, check, fmt.Sprintf("%s, because of %s", publicPlace(path), source), "")
	usable := false
	switch circuits := circuits.(type) {
	case *store.Dir:
		usable = d.directory(circuits)
	case *store.Redis:
		usable = d.servers(circuits)
	}
	if usable {
		d.circuits(circuits)
	}
}

// directory checks a directory store. It reports whether circuits can be read.
func (d *doctor) directory(dir *store.Dir) bool {
	e, err := dir.Examine()
	if err != nil {
		d.fail("access", fmt.Errorf("cannot open %s (%s)", e.Dir, store.Cause(err)), "make it a directory of your own, or name another with --store or CB_STORE")
		return false
	}
	d.access(dir.Path, e)
	d.fileSystem(e)
	d.locks(e)
	d.clock()
	return e.Exists
}

func (d *doctor) access(path string, e store.Examination) {
	const check = "access"
	who := ""
	if e.Owner >= 0 {
		who = " of " + orElse(place.UserName(e.Owner), "user "+strconv.Itoa(e.Owner))
	}
	shown := fmt.Sprintf("%s%s, mode %s", e.Dir, who, octal(e.Mode))
	shared := e.Mode&fs.ModeSetgid != 0 && e.Mode.Perm()&0o020 != 0
	switch {
	case e.Write != nil && !e.Exists:
		d.note(render.Failure, check, fmt.Sprintf("%s does not exist and cannot be made in %s (%s)", path, e.Dir, store.Cause(e.Write)),
			"make it for this user, or name another place with --store or CB_STORE")
	case e.Write != nil:
		d.note(render.Failure, check, fmt.Sprintf("%s: a file cannot be written, replaced and removed (%s)", shown, store.Cause(e.Write)),
			"give this user leave to write there, or name another place with --store or CB_STORE")
	case !e.Exists:
		d.note(render.Good, check, "the first run makes the directory, for its user alone", "")
	case e.Owner < 0:
		d.note(render.Good, check, "files can be written, replaced and removed", "")
	case e.Mode.Perm()&0o002 != 0:
		d.note(render.Warning, check, shown+": everybody can change circuits", "chmod o-w "+e.Dir)
	case shared && e.Mode&fs.ModeSticky != 0:
		d.note(render.Warning, check, shown+": only its owner can replace a file of a sticky directory", "chmod -t "+e.Dir)
	case e.Mode.Perm()&0o020 != 0 && !shared:
		d.note(render.Warning, check, shown+": its group can replace circuits that it cannot read",
			fmt.Sprintf("chmod g+s %[1]s to share them, chmod g-w %[1]s to keep them", e.Dir))
	case shared:
		d.note(render.Good, check, shown+", shared with its group", "")
	default:
		d.note(render.Good, check, shown, "")
	}
}

// octal writes a mode as chmod takes it.
func octal(mode fs.FileMode) string {
	bits := uint32(mode.Perm())
	for _, special := range []struct {
		mode fs.FileMode
		bit  uint32
	}{{fs.ModeSetuid, 0o4000}, {fs.ModeSetgid, 0o2000}, {fs.ModeSticky, 0o1000}} {
		if mode&special.mode != 0 {
			bits |= special.bit
		}
	}
	return fmt.Sprintf("%04o", bits)
}

func (d *doctor) fileSystem(e store.Examination) {
	const check = "file system"
	if e.System == "" {
		d.note(render.Good, check, "of a type that nobody tells", "")
		return
	}
	shown := fmt.Sprintf("%s, %s free", e.System, render.Bytes(e.Free))
	network := []string{"nfs", "cifs", "smb", "smbfs", "9p", "fuse", "ceph", "afs", "webdav", "afpfs"}
	switch {
	case e.Free < lowSpace:
		d.note(render.Warning, check, shown, "make room: a circuit that cannot be saved protects nothing")
	case e.System == "tmpfs", e.System == "ramfs":
		d.note(render.Warning, check, shown+"; circuits are forgotten at the next start of the machine", "name a place on a disk with --store or CB_STORE")
	case slices.Contains(network, e.System):
		d.note(render.Warning, check, shown+"; locks between machines are as good as its server", "for several machines a store of redis:// is safe")
	case e.System == "overlay":
		d.note(render.Good, check, shown+" (in a container circuits live as long as it does, unless this is a volume)", "")
	default:
		d.note(render.Good, check, shown, "")
	}
}

func (d *doctor) locks(e store.Examination) {
	const check = "locks"
	switch {
	case e.Write != nil:
		return // there was no file to lock
	case errors.Is(e.Lock, store.ErrNoLocks):
		d.note(render.Warning, check, e.Lock.Error()+"; runs at the same time may overwrite each other's outcome", "name a place on a local disk with --store or CB_STORE")
	case e.Lock != nil:
		d.fail(check, e.Lock, "name a place on a local disk with --store or CB_STORE")
	default:
		d.note(render.Good, check, "whoever comes second has to wait", "")
	}
}

func (d *doctor) clock() {
	const check = "clock"
	now := d.env.Clock()
	if now.BootID == "" {
		d.note(render.Warning, check, "there is no boot clock here; when the wall clock is set, open periods move along", "keep the clock in step with NTP")
		return
	}
	detail := fmt.Sprintf("%s, checked against the boot clock: %s since boot %.8s", now.Wall.Local().Format(time.RFC3339), render.Span(now.Boot), now.BootID)
	if offset := store.BootOffset(); offset != 0 {
		detail += fmt.Sprintf(", without the %s of a time namespace", offset.Round(time.Second))
	}
	d.note(render.Good, check, detail, "")
}

// servers checks a server store. It reports whether circuits can be read.
func (d *doctor) servers(circuits *store.Redis) bool {
	const check = "server"
	servers, err := circuits.Examine(d.command.Context())
	for _, s := range servers {
		role, version := s.Role, orElse(s.Version, "a server that does not tell its version")
		if role == "slave" {
			role = "replica"
		}
		shown := fmt.Sprintf("%s: %s, %s, answers in %s", s.Addr, version, orElse(role, "role unknown"), s.Trip.Round(10*time.Microsecond))
		switch {
		case s.Role == "slave":
			d.note(render.Failure, check, shown, "name the master, or its sentinels with +sentinel://")
		case strings.HasPrefix(s.Eviction, "allkeys"):
			d.note(render.Warning, check, shown+"; full memory makes it forget any circuit ("+s.Eviction+")", "set maxmemory-policy to noeviction")
		default:
			d.note(render.Good, check, shown, "")
		}
		switch {
		case s.Ahead.Abs() > clockGap:
			d.note(render.Warning, "clock", fmt.Sprintf("the server's, which counts, is %s from this machine's", s.Ahead.Round(time.Second)), "keep both clocks in step with NTP")
		default:
			d.note(render.Good, "clock", "the server's, within "+clockGap.String()+" of this machine's", "")
		}
	}
	if err != nil {
		d.fail(check, errors.New(store.Cause(err)), "until it answers, commands run without protection, or not at all with --on-store-error refuse")
		return false
	}
	return true
}

// circuits reads all of them.
func (d *doctor) circuits(circuits inventory) {
	const check = "circuits"
	counts := map[string]int{}
	total := 0
	for entry, err := range circuits.List() {
		switch {
		case errors.Is(err, store.ErrNewer):
			d.note(render.Failure, check, err.Error(), "use that version here too")
		case errors.Is(err, store.ErrCorrupt):
			d.note(render.Warning, check, err.Error(), "the next run sets it aside and starts with a closed one")
		case err != nil:
			d.fail(check, errors.New(strings.TrimPrefix(fmt.Sprintf("%s: cannot be read (%s)", entry.Name, store.Cause(err)), ": ")), "")
		default:
			total++
			counts[entry.Circuit.Found(entry.Now).Shown()]++
		}
	}
	var words []string
	for _, state := range stateWords() {
		if n := counts[state]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, state))
		}
	}
	detail := fmt.Sprintf("%d can be read", total)
	if len(words) > 0 {
		detail += ": " + strings.Join(words, ", ")
	}
	d.note(render.Good, check, detail, "")
}
