package plan

import (
	"fmt"
	"strings"
	"testing"
)

// heavy are documents within the limits that ask for the most work.
func heavy() map[string]string {
	list := func(count int, step func(i int) string) string {
		all := make([]string, count)
		for i := range all {
			all[i] = step(i)
		}
		return steps(strings.Join(all, ","))
	}
	dense := list(1050, func(i int) string {
		deps := make([]string, i)
		for k := range deps {
			deps[k] = fmt.Sprintf(`"%c%d"`, 'a'+k%26, k)
		}
		return fmt.Sprintf(`{"id":"%c%d","tool":"noop","params":{"n":%d},"depends_on":[%s]}`, 'a'+i%26, i, i, strings.Join(deps, ","))
	})
	choices := list(8000, func(i int) string {
		if i < 2 {
			return fmt.Sprintf(`{"id":"s%d","tool":"patch","params":{"n":%d}%s}`, i, i, map[bool]string{true: `,"depends_on":["s0"],"join":"all_done"`}[i == 1])
		}
		return fmt.Sprintf(`{"id":"s%d","tool":"noop","params":{"n":%d},"depends_on":["s0","s1"],"join":"any_of"}`, i, i)
	})
	contracts := list(10_000, func(i int) string {
		return fmt.Sprintf(`{"id":"s%d","tool":"noop","params":{"n":%d},"contract":{"schema":{"type":"object","required":["k%d"]}}}`, i, i, i)
	})
	faults := list(10_000, func(i int) string {
		return fmt.Sprintf(`{"id":"s%d","tool":"n%d","depends_on":["x%d","y","z"],"q":1}`, i, i, i)
	})
	rings := list(10_000, func(i int) string {
		return fmt.Sprintf(`{"id":"s%d","tool":"noop","params":{"n":%d},"depends_on":["s%d"]}`, i, i, i^1)
	})
	keys := `{"format":1,"goal":"g","steps":[{"id":"a","tool":"noop","params":{` + strings.Repeat(`"x":1,`, 600_000) + `"y":1}}]}`
	commas := steps(`{"id":"a","tool":"noop","params":{"x":[` + strings.Repeat("0,", 1_900_000) + `0]}}`)
	return map[string]string{"dense": dense, "choices": choices, "contracts": contracts, "faults": faults, "rings": rings, "keys": keys, "commas": commas}
}

func BenchmarkHeavy(b *testing.B) {
	env := testEnv(b)
	for name, doc := range heavy() {
		b.Run(name, func(b *testing.B) {
			if len(doc) > DocumentBytesMax {
				b.Fatalf("%d bytes", len(doc))
			}
			for b.Loop() {
				Check([]byte(doc), env)
			}
		})
	}
}
