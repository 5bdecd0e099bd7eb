package process

import (
	"io"
	"os"
)

// Writer returns a writer for a standard stream of this process.
func Writer(stream *os.File) io.Writer { return stream }
