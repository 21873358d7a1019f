package exec

import "strings"

// validText drops what a cut in the middle of a character leaves.
func validText(b []byte) string { return strings.ToValidUTF8(string(b), "") }
