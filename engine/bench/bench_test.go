package bench

import (
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"sluice/engine/exec"
)

// pairsMin is how often bare program and kernel run in turn, at the least (P47).
const pairsMin = 11

// BenchmarkKernel shows, for each shape, the kernel's time as a multiple of the
// bare program's, medians of runs in turn (P47). x/limit is the figure.
func BenchmarkKernel(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(exec.GCPercent)) // as the program does, for both
	for _, shape := range []Shape{Layered(10, 100, noop), FanOut(1000), Chain(1000)} {
		b.Run(shape.Name, func(b *testing.B) { compare(b, &shape, 0) })
	}
	makespan := Layered(5, 6, sleep)
	makespan.Name = "makespan 5x6 of 20 ms"
	b.Run(makespan.Name, func(b *testing.B) { compare(b, &makespan, Work) })
}

func compare(b *testing.B, s *Shape, work time.Duration) {
	k, err := newKernel(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	plain := mustBare(b, false)
	grown := mustBare(b, true)
	doc := s.document()
	before := time.Now()
	c, err := k.compile(doc)
	if err != nil {
		b.Fatal(err)
	}
	compiled := time.Since(before)
	var kernelTimes, plainTimes, grownTimes []time.Duration
	for n := range max(b.N, pairsMin) + 1 {
		k.rest()
		p := plain.run(n, s, work)
		k.rest()
		g := grown.run(n, s, work)
		k.rest()
		t, err := k.run(n, c, doc)
		if err != nil {
			b.Fatal(err)
		}
		if n == 0 {
			continue // warm-up
		}
		kernelTimes, plainTimes, grownTimes = append(kernelTimes, t), append(plainTimes, p), append(grownTimes, g)
	}
	if err := k.close(); err != nil {
		b.Fatal(err)
	}
	kernelTime, limit, grownLimit := median(kernelTimes), median(plainTimes), median(grownTimes)
	nodes := float64(len(s.Deps))
	b.ReportMetric(float64(kernelTime)/float64(limit), "x/limit")
	b.ReportMetric(float64(kernelTime)/float64(grownLimit), "x/grown-limit")
	b.ReportMetric(float64(kernelTime.Microseconds())/nodes, "kernel-µs/node")
	b.ReportMetric(float64(limit.Microseconds())/nodes, "limit-µs/node")
	b.ReportMetric(float64(compiled.Microseconds())/nodes, "compile-µs/node")
	b.ReportMetric(0, "ns/op")
}

func mustBare(b *testing.B, grow bool) *bare {
	b.Helper()
	p, err := newBare(b.TempDir(), grow)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := p.close(); err != nil {
			b.Error(err)
		}
	})
	return p
}

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}
