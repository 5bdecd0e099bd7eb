package store

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cb/internal/breaker"
)

func TestALeaseIsNotInherited(t *testing.T) {
	d := newDir(t)
	holder := start(t, "probe", d.Path, "deploy", "orphan")
	killLater(t, holder.line())
	holder.ready()
	wantLost(t, d, 0)
	holder.kill()
	wantLost(t, d, 1)
}

func TestAProbeWithoutALeaseFileIsLost(t *testing.T) {
	d := newDir(t)
	holder := start(t, "probe", d.Path, "deploy")
	holder.ready()
	if err := os.RemoveAll(filepath.Join(d.Path, "deploy.probes")); err != nil {
		t.Fatal(err)
	}
	wantLost(t, d, 1)
	holder.finish()
}

func TestAProbeWithoutALeaseIsLeftToItsLimit(t *testing.T) {
	d := newDir(t)
	update(t, d, "deploy", increment)
	// Where the leases would be there is a file.
	if err := os.WriteFile(filepath.Join(d.Path, "deploy.probes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var handed breaker.Circuit
	update(t, d, "deploy", func(c breaker.Circuit, now time.Time) (breaker.Circuit, error) {
		handed, _ = addProbe("00000000000000aa")(c, now)
		return handed, nil
	})
	if c := read(t, d, "deploy"); len(c.Probes) != 1 || c.Probes[0].Leased {
		t.Errorf("the probes are %+v", c.Probes)
	}
	if !handed.Probes[0].Leased {
		t.Error("the function's own circuit was changed")
	}
	wantLost(t, d, 0)
}

func TestATokenCannotLeaveTheStore(t *testing.T) {
	d := newDir(t)
	for _, token := range []string{"../evil", "", "/tmp/evil", "A", ".."} {
		update(t, d, "deploy", addProbe(token))
		if c := read(t, d, "deploy"); len(c.Probes) != 1 || c.Probes[0].Leased {
			t.Errorf("token %q: the probes are %+v", token, c.Probes)
		}
		update(t, d, "deploy", put(breaker.Circuit{}))
	}
	wantFiles(t, d, "deploy.json", "deploy.lock")
}

func TestLeftoversAreSwept(t *testing.T) {
	d := newDir(t)
	dead := start(t, "probe", d.Path, "deploy")
	dead.ready()
	dead.kill()
	update(t, d, "deploy", put(breaker.Circuit{})) // swept with the probe
	wantFiles(t, d, "deploy.json", "deploy.lock")

	// A crash between taking a lease and listing its probe.
	if err := os.Mkdir(filepath.Join(d.Path, "deploy.probes"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.Path, "deploy.probes", "00000000000000cc"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	update(t, d, "deploy", addProbe("00000000000000aa"))
	// One that is not listed any more but lives is left in peace.
	alive := start(t, "probe", d.Path, "deploy")
	alive.ready()
	update(t, d, "deploy", put(breaker.Circuit{}))
	wantFiles(t, d, "deploy.json", "deploy.lock", "deploy.probes", "deploy.probes/0123456789abcdef")
	alive.finish()
}

func TestAFailedWriteGivesTheLeaseBack(t *testing.T) {
	d := newDir(t)
	update(t, d, "deploy", increment)
	err := d.Update(context.Background(), "deploy", func(c breaker.Circuit, now time.Time) (breaker.Circuit, error) {
		c, _ = addProbe("00000000000000aa")(c, now)
		c.Since = now.AddDate(20000, 0, 0) // cannot be written as JSON
		return c, nil
	})
	if err == nil {
		t.Fatal("the write succeeds")
	}
	if len(d.leases) != 0 {
		t.Errorf("%d leases are still held", len(d.leases))
	}
	wantFiles(t, d, "deploy.json", "deploy.lock")
	if got := read(t, d, "deploy").Totals.Successes; got != 1 {
		t.Errorf("the circuit has changed: %d", got)
	}
}
