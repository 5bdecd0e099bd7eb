package store

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"cb/internal/breaker"
)

func TestUpdateKeepsWhatTheFunctionReturns(t *testing.T) {
	d := &Dir{Path: filepath.Join(t.TempDir(), "a", "b"), Clock: SystemClock}
	for i := range 3 {
		err := d.Update(context.Background(), "Deploy API", func(c breaker.Circuit, now time.Time) (breaker.Circuit, error) {
			if c.Totals.Successes != i {
				t.Errorf("update %d sees %d", i, c.Totals.Successes)
			}
			c.Totals.Successes++
			return c, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	c, _, found, err := d.Read("Deploy API")
	if err != nil || !found || c.Totals.Successes != 3 {
		t.Errorf("Read: %+v, %v, %v", c, found, err)
	}
}
