package redis

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// A Reply is a string, an int64, nil, a ServerError or a []Reply.
type Reply any

// ServerError is a reply that begins with "-": a word in capitals and a text.
type ServerError string

// Error is the text of the server.
func (e ServerError) Error() string { return string(e) }

// errProtocol says that the other side is no Redis server.
var errProtocol = errors.New("not the Redis protocol")

// Bounds of what is read, in bytes, entries and levels. They keep a server
// that is none from filling the memory.
const (
	maxBulk    = 64 << 20
	maxEntries = 1 << 22
	maxDepth   = 8
)

// appendCommand appends a command in the form in which servers read it.
func appendCommand(to []byte, words []string) []byte {
	to = append(strconv.AppendInt(append(to, '*'), int64(len(words)), 10), "\r\n"...)
	for _, word := range words {
		to = append(strconv.AppendInt(append(to, '$'), int64(len(word)), 10), "\r\n"...)
		to = append(append(to, word...), "\r\n"...)
	}
	return to
}

// readReply reads one reply.
func readReply(r *bufio.Reader, depth int) (Reply, error) {
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) || err == nil && (len(line) < 3 || line[len(line)-2] != '\r') {
		return nil, errProtocol
	}
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller knows whom it talks to
	}
	kind, text := line[0], string(line[1:len(line)-2])
	switch kind {
	case '+':
		return text, nil
	case '-':
		return ServerError(text), nil
	case ':':
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, errProtocol
		}
		return n, nil
	case '$':
		return readBulk(r, text)
	case '*':
		return readArray(r, text, depth)
	}
	return nil, errProtocol
}

func readBulk(r *bufio.Reader, length string) (Reply, error) {
	n, err := strconv.Atoi(length)
	switch {
	case err != nil || n < -1 || n > maxBulk:
		return nil, errProtocol
	case n < 0:
		return nil, nil //nolint:nilnil // nil is a reply
	}
	data := make([]byte, n+2)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, fmt.Errorf("read reply: %w", err)
	}
	return string(data[:n]), nil
}

func readArray(r *bufio.Reader, length string, depth int) (Reply, error) {
	n, err := strconv.Atoi(length)
	switch {
	case err != nil || n < -1 || n > maxEntries || depth == maxDepth:
		return nil, errProtocol
	case n < 0:
		return nil, nil //nolint:nilnil // nil is a reply
	}
	var all []Reply
	for range n {
		one, err := readReply(r, depth+1)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}
