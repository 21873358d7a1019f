package gatecheck

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"sluice/policy"
)

// Limits on the input.
const (
	LineBytesMax = 1 << 20 // without the line end
	DepthMax     = 64      // JSON nesting of a line
	ScopesMax    = 64      // scopes of one call
)

// Options says what a check decides under.
type Options struct {
	Policy *policy.Policy
	// Tool finds a declaration; false means that there is no such tool, and the
	// call ranks highest and is denied (R46, R48).
	Tool func(name string) (policy.Tool, bool)
	// Intent and Scopes hold for lines that state none.
	Intent policy.Rank
	Scopes []string
	// Canonical gives RFC 8785 JSON and refuses duplicate keys, invalid UTF-8
	// and numbers that JSON cannot carry.
	Canonical func([]byte) ([]byte, error)
}

// Run decides every line of in and writes one line to out for each; blank lines
// are passed over. bad counts the lines that could not be read, each of which is
// answered with a deny. The error is about reading in, writing out or missing
// options, never about a line.
func Run(in io.Reader, out io.Writer, options Options) (bad int, err error) {
	if options.Policy == nil || options.Tool == nil || options.Canonical == nil {
		return 0, errors.New("check calls: options need a policy, tools and a canonical form")
	}
	reader := bufio.NewReaderSize(in, 64<<10)
	writer := bufio.NewWriter(out)
	for {
		line, isLong, readErr := nextLine(reader)
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			return bad, errors.Join(fmt.Errorf("read calls: %w", readErr), writer.Flush())
		}
		if len(bytes.TrimSpace(line)) > 0 || isLong {
			isBad, err := answer(writer, line, isLong, &options)
			if err != nil {
				return bad, fmt.Errorf("write decision: %w", err)
			}
			if isBad {
				bad++
			}
		}
		isDone := readErr != nil
		if isDone || reader.Buffered() == 0 {
			// Whoever feeds lines one by one sees each answer before the next.
			if err := writer.Flush(); err != nil {
				return bad, fmt.Errorf("write decisions: %w", err)
			}
		}
		if isDone {
			return bad, nil
		}
	}
}

// nextLine reads one line of at most LineBytesMax. Of a longer one it reads and
// drops the rest, so that the lines after it keep their answers.
func nextLine(reader *bufio.Reader) (line []byte, isLong bool, err error) {
	for {
		part, err := reader.ReadSlice('\n')
		if !isLong {
			line = append(line, part...)
		}
		if len(bytes.TrimRight(line, "\r\n")) > LineBytesMax {
			line, isLong = nil, true
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, isLong, err
		}
	}
}

// answer writes one decision with the id of its line first.
func answer(writer *bufio.Writer, line []byte, isLong bool, options *Options) (isBad bool, err error) {
	id, decision, isBad := decide(line, isLong, options)
	_, err = writer.Write(append(wire(id, &decision), '\n'))
	return isBad, err
}

func wire(id []byte, d *policy.Decision) []byte {
	b := append([]byte(`{"id":`), id...)
	b = append(b, ',')
	return append(b, d.AppendJSON(nil)[1:]...)
}

// decide answers one line: its id as JSON, the decision, and whether the line
// could not be read.
func decide(line []byte, isLong bool, options *Options) (id []byte, d policy.Decision, isBad bool) {
	if isLong {
		reason := fmt.Sprintf("The line is longer than %d bytes. Send less in one call.", LineBytesMax)
		return []byte("null"), policy.Refuse(options.Policy.Hash(), reason), true
	}
	call, id, err := read(line, options)
	if err != nil {
		return id, policy.Refuse(options.Policy.Hash(), sentence(err)), true
	}
	return id, policy.Decide(options.Policy, call), false
}

// sentence turns an error about a line into a reason for people.
func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// Answer decides one call as Run does a line, and gives what Run would write,
// without the line end.
func Answer(line []byte, options Options) (policy.Decision, []byte) {
	id, d, _ := decide(line, len(line) > LineBytesMax, &options)
	return d, wire(id, &d)
}
