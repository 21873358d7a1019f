package templates

import (
	"fmt"
	"strconv"
	"time"
)

const micros = int64(time.Second / time.Microsecond)

// iso writes µs UTC for a datetime attribute.
func iso(at int64) string {
	return time.UnixMicro(at).UTC().Format("2006-01-02T15:04:05.000Z")
}

// clock writes the time of day to the second, in UTC; live.ts rewrites it in
// the reader's zone.
func clock(at int64) string { return time.UnixMicro(at).UTC().Format("15:04:05") }

// clockMS is clock to the millisecond, as the log shows it.
func clockMS(at int64) string { return time.UnixMicro(at).UTC().Format("15:04:05.000") }

// dateClock writes date and time for a moment that may be days away.
func dateClock(at int64) string {
	return time.UnixMicro(at).UTC().Format("2 Jan 2006, 15:04:05") + " UTC"
}

// ago says how long before now something was, coarsely.
func ago(at, now int64) string {
	switch s := (now - at) / micros; {
	case s < 10:
		return "now"
	case s < 60:
		return fmt.Sprintf("%d s ago", s)
	case s < 3600:
		return fmt.Sprintf("%d min ago", s/60)
	case s < 86400:
		return fmt.Sprintf("%d h ago", s/3600)
	case s < 2*86400:
		return "yesterday"
	case s < 30*86400:
		return fmt.Sprintf("%d days ago", s/86400)
	}
	return time.UnixMicro(at).UTC().Format("2 Jan 2006")
}

// span writes a length of time as a timer shows it: "0:13", "1:08:20".
func span(us int64) string {
	s := max(us, 0) / micros
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// took writes how long a step ran: "4 ms", "0.4 s", "12 s", "1:08".
func took(us int64) string {
	switch ms := max(us, 0) / 1000; {
	case ms < 100:
		return strconv.FormatInt(ms, 10) + " ms"
	case ms < 9_950:
		return fmt.Sprintf("%.1f s", float64(ms)/1000)
	case ms < 60_000:
		return fmt.Sprintf("%d s", (ms+500)/1000)
	}
	return span(us)
}

// left writes the time to an expiry.
func left(expires, now int64) string {
	if expires == 0 {
		return "no limit"
	}
	if d := expires - now; d < 86400*micros {
		return span(d)
	}
	return fmt.Sprintf("%d days", (expires-now)/(86400*micros))
}

// soonMicros is when a countdown turns to the colour of waiting: a quarter of an hour.
const soonMicros = 15 * 60 * micros

func soon(expires, now int64) bool { return expires != 0 && expires-now < soonMicros }

// runTime is how long a run has been going, or took.
func runTime(created, ended, now int64) string {
	if ended == 0 {
		return span(now - created)
	}
	if d := ended - created; d < 10*micros {
		return took(d)
	}
	return span(ended - created)
}

func num(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func itoa(n int) string { return num(int64(n)) }

// plural writes "1 step" or "3 steps".
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return itoa(n) + " " + word + "s"
}

// short cuts a hash to its ends.
func short(hash string) string {
	if len(hash) <= 12 {
		return hash
	}
	return hash[:4] + "…" + hash[len(hash)-4:]
}

// meterWidth scales a spend to a bar of 100 units; something spent is always seen.
func meterWidth(used, limit int64) string {
	if limit <= 0 || used <= 0 {
		return "0"
	}
	return strconv.FormatInt(min(max(used*100/limit, 2), 100), 10)
}
