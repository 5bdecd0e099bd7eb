package cmd

import (
	"fmt"
	"os"
	"path/filepath"
)

// What somebody would type to break and to mend the service.
const (
	breakCommand = "type nul >broken"
	mendCommand  = "del broken"
)

// service is the command of the tour.
func service() []string { return []string{"cmd", "/c", "service.cmd"} }

func (d *demo) writeService() error {
	const script = "@echo off\r\nif exist broken (\r\necho service: cannot reach the database\r\nexit /b 1\r\n)\r\necho service: done\r\n"
	if err := os.WriteFile(filepath.Join(d.dir, "service.cmd"), []byte(script), 0o600); err != nil {
		return fmt.Errorf("write the service of the tour: %w", err)
	}
	return nil
}
