package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
)

// Errors of the file system by class. What the system refuses or cannot do is
// unavailable without a reason; an escape is no errno and no fs.Err*.
func TestGTraps_FileErrorsByClass(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	_, escape := root.Open("../x")
	cases := []struct {
		err   error
		class FailureClass
	}{
		{fs.ErrNotExist, NotFound}, {syscall.ENOENT, NotFound},
		{syscall.EACCES, Unavailable}, {syscall.EPERM, Unavailable}, {syscall.EROFS, Unavailable}, {syscall.ENOSPC, Unavailable}, {syscall.EIO, Unavailable},
		{syscall.ENOTDIR, Invalid}, {syscall.EISDIR, Invalid}, {syscall.ELOOP, Invalid}, {syscall.ENAMETOOLONG, Invalid},
		{escape, Invalid}, {Fail(Conflict, "as it was"), Conflict},
	}
	for _, c := range cases {
		var failure *Failure
		got := fileFailure("name", fmt.Errorf("wrapped: %w", c.err))
		if !errors.As(got, &failure) || failure.Class != c.class {
			t.Errorf("%v: got %v, want %s", c.err, got, c.class)
		}
		if c.class == Unavailable && failure != nil && failure.Detail != UnavailableText {
			t.Errorf("%v: got detail %q, want the constant text", c.err, failure.Detail)
		}
	}
	for _, end := range []error{context.Canceled, context.DeadlineExceeded} {
		if got := fileFailure("name", end); !errors.Is(got, end) {
			t.Errorf("%v: got %v, want it kept", end, got)
		}
	}
	if got := fileFailure(strings.Repeat("x", 4000), syscall.ENOENT).Error(); len(got) > DetailBytesMax {
		t.Errorf("got %d bytes of text, want at most %d", len(got), DetailBytesMax)
	}
}
