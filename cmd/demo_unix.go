//go:build unix

package cmd

import (
	"fmt"
	"os"
	"path/filepath"
)

// What somebody would type to break and to mend the service.
const (
	breakCommand = "touch broken"
	mendCommand  = "rm broken"
)

// service is the command of the tour. A shell reads the script, because a
// temporary directory may not be one that programs start from.
func service() []string { return []string{"sh", "service"} }

func (d *demo) writeService() error {
	const script = "if [ -e broken ]; then echo 'service: cannot reach the database'; exit 1; fi\necho 'service: done'\n"
	if err := os.WriteFile(filepath.Join(d.dir, "service"), []byte(script), 0o600); err != nil {
		return fmt.Errorf("write the service of the tour: %w", err)
	}
	return nil
}
