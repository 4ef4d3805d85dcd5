package worker

import "github.com/signalbox/signalbox/internal/jobs"

// maxCachedConfigurations bounds the bytes of the configurations in memory.
const maxCachedConfigurations = 32 << 20

// configurationCache keeps what jobs send. A configuration never changes: a
// job that is changed gets another. Only the claiming goroutine uses it.
type configurationCache struct {
	known map[string]jobs.Configuration
	bytes int
}

func (c *configurationCache) get(id string) (jobs.Configuration, bool) {
	configuration, known := c.known[id]
	return configuration, known
}

// put forgets everything when there is too much: what is in use comes back
// with the next claim.
func (c *configurationCache) put(id string, configuration jobs.Configuration) {
	const overhead = 500
	size := configuration.Size() + overhead
	if c.known == nil || c.bytes+size > maxCachedConfigurations {
		c.known, c.bytes = map[string]jobs.Configuration{}, 0
	}
	c.known[id] = configuration
	c.bytes += size
}
