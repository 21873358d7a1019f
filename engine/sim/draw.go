package sim

import "strconv"

// draw is a number in [0, n) that depends on the seed and the name alone.
func (w *World) draw(n int, name ...string) int {
	x := w.Seed + 0x9e3779b97f4a7c15
	for _, part := range name {
		for i := range len(part) {
			x = (x ^ uint64(part[i])) * 0x100000001b3
		}
		x = mix(x + 0xff)
	}
	return int(mix(x) >> 1 % uint64(n))
}

// drawAttempt names the draw after an attempt.
func (w *World) drawAttempt(n int, what, node string, attempt int) int {
	return w.draw(n, what, node, strconv.Itoa(attempt))
}

// mix is the finaliser of SplitMix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
