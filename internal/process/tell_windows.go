package process

import "os"

// Tell writes a text to a standard stream of this process.
func Tell(stream *os.File, text string) error {
	_, err := stream.WriteString(text)
	return err
}
