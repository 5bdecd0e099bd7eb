//go:build unix && !linux

package process

// Trees cannot be walked here.
type (
	family struct{}
	origin struct{}
)

func (t *tree) adopt() {}

func (t *tree) walk() ([]proc, bool) { return nil, false }
