package live

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
)

// counter counts from many goroutines at once. It has a part per processor, up to eight, each in its own cache line, and add
// picks a part at random: with a single number, every read of a popular flag would wait for all others.
type counter struct{ parts []counterPart }

type counterPart struct {
	n atomic.Uint64
	_ [56]byte
}

func newCounter() *counter {
	parts := 1
	for parts < min(runtime.GOMAXPROCS(0), 8) {
		parts *= 2
	}
	return &counter{make([]counterPart, parts)}
}

// count is how often a flag had a value since the last report.
type count struct {
	flag, value string
	n           uint64
	from        *counter
}

func (c *counter) add() {
	c.parts[rand.Uint32()&uint32(len(c.parts)-1)].n.Add(1)
}

// take returns the count since the last call.
func (c *counter) take() uint64 {
	var sum uint64
	for i := range c.parts {
		sum += c.parts[i].n.Swap(0)
	}
	return sum
}

// putBack adds a count that could not be reported.
func (c *counter) putBack(n uint64) { c.parts[0].n.Add(n) }
