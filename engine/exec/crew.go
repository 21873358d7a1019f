package exec

import "sync"

// crew performs jobs, each as soon as the scheduler lets it: for every job a
// goroutine is started, and no job waits for another's end. A goroutine that is
// done takes over a job whose own has not begun yet, which then finds nothing
// to do: of a wave of quick jobs most run on a stack that has grown already.
type crew struct {
	wait  *sync.WaitGroup
	mutex sync.Mutex
	jobs  []func() // oldest first; never more than goroutines that will look
}

// do wants a place in wait taken already; work gives it back.
func (c *crew) do(job func()) {
	c.mutex.Lock()
	c.jobs = append(c.jobs, job)
	c.mutex.Unlock()
	go c.work()
}

func (c *crew) work() {
	defer c.wait.Done()
	for job := c.next(); job != nil; job = c.next() {
		job()
	}
}

func (c *crew) next() func() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if len(c.jobs) == 0 {
		return nil
	}
	job := c.jobs[0]
	c.jobs[0] = nil
	if c.jobs = c.jobs[1:]; len(c.jobs) == 0 {
		c.jobs = nil
	}
	return job
}
