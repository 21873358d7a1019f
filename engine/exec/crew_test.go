package exec

import (
	"sync"
	"testing"
	"time"
)

// Every job begins although all the others are still at theirs.
func TestR13_NoJobOfTheCrewWaitsForAnother(t *testing.T) {
	const wave = 500
	var wait sync.WaitGroup
	c := crew{wait: &wait}
	var begun sync.WaitGroup
	begun.Add(wave)
	release := make(chan struct{})
	quick := 0
	var mutex sync.Mutex
	for range wave {
		wait.Add(2)
		c.do(func() {
			mutex.Lock()
			defer mutex.Unlock()
			quick++
		})
		c.do(func() {
			begun.Done()
			<-release
		})
	}
	all := make(chan struct{})
	go func() { begun.Wait(); close(all) }()
	select {
	case <-all:
	case <-time.After(10 * time.Second):
		t.Fatal("some job waits for the end of another")
	}
	close(release)
	wait.Wait()
	if quick != wave || c.next() != nil {
		t.Errorf("%d quick jobs done, want %d; none may be left", quick, wave)
	}
}
