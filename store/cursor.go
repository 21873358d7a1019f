package store

import (
	"strconv"
	"strings"
)

// listMax bounds a page of any list; it is also the size when none is asked for.
const listMax = 200

func listLimit(asked int) int {
	if asked <= 0 || asked > listMax {
		return listMax
	}
	return asked
}

// makeCursor names the last row of a page by what the list is ordered by.
func makeCursor(at int64, id string) string { return strconv.FormatInt(at, 10) + "." + id }

func parseCursor(cursor string) (at int64, id string, err error) {
	number, id, found := strings.Cut(cursor, ".")
	at, err = strconv.ParseInt(number, 10, 64)
	if !found || err != nil {
		return 0, "", invalid("cursor %.80q", cursor)
	}
	return at, id, nil
}
