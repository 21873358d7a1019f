package plan

import (
	"fmt"
	"strings"
	"testing"
)

// noops is a layered plan of count steps, each after two of the layer before.
func noops(count int) string {
	const width = 10
	var b strings.Builder
	b.WriteString(`{"format":1,"goal":"noop","steps":[`)
	for i := range count {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"n%d","tool":"noop","params":{"n":%d}`, i, i)
		if i >= width {
			fmt.Fprintf(&b, `,"depends_on":["n%d","n%d"]`, i-width, i-i%width-width)
		}
		b.WriteByte('}')
	}
	b.WriteString("]}")
	return b.String()
}

func BenchmarkParse(b *testing.B) {
	doc := []byte(noops(1000))
	for b.Loop() {
		if p, f := Parse(doc); p == nil {
			b.Fatal(show(f))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/step")
}

func BenchmarkCompile(b *testing.B) {
	for _, count := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			p, env := mustParse(b, noops(count)), testEnv(b)
			env.Policy, env.Scopes = testPolicy(b, nil), []string{"default"}
			b.ResetTimer()
			for b.Loop() {
				if c, f := Compile(p, env); c == nil {
					b.Fatal(show(f))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(count), "ns/step")
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	canonical := mustCompile(b, noops(1000), testEnv(b)).Canonical
	for b.Loop() {
		if _, err := Load(canonical); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/step")
}
