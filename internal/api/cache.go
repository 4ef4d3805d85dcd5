package api

import (
	"bytes"
	"sync"
)

// The cache's bounds in bytes. A larger response is not cached.
const (
	maxCached      = 32 << 20
	maxCachedEntry = 1 << 20
)

// responseCache keeps encoded responses that only recorded changes can alter. An entry is valid
// only for the version that the account had before the entry was made, so a cached answer is as
// current as an answer from the database.
type responseCache struct {
	mu      sync.RWMutex
	entries map[cacheKey]cacheEntry
	size    int
}

// cacheKey identifies a response. strict is part of it because a strict request refuses unknown parameters.
type cacheKey struct {
	account, path, query string
	strict               bool
}

type cacheEntry struct {
	version int64
	answer  reply
	cost    int // the approximate memory in bytes
}

func newResponseCache() *responseCache { return &responseCache{entries: map[cacheKey]cacheEntry{}} }

// answer returns the cached response, or makes one and caches it.
func (c *responseCache) answer(call *call, run func() (reply, error)) (reply, error) {
	query := call.request.URL.RawQuery
	key := cacheKey{call.caller.Account, call.request.URL.EscapedPath(), query, query != "" && call.writer.strict}
	c.mu.RLock()
	entry, found := c.entries[key]
	c.mu.RUnlock()
	if found && entry.version == call.caller.Version {
		return entry.answer, nil
	}
	made, err := run()
	if err != nil {
		return reply{}, err
	}
	c.keep(key, call.caller.Version, made)
	return made, nil
}

// keep stores a response. A full cache is emptied; responses in use are soon cached again.
func (c *responseCache) keep(key cacheKey, version int64, answer reply) {
	const overhead = 300 // of the map, the strings and the structs
	cost := overhead + len(answer.body) + len(key.account) + len(key.path) + len(key.query)
	if cost > maxCachedEntry {
		return
	}
	answer.body = bytes.Clone(answer.body) // without spare capacity
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size+cost > maxCached {
		clear(c.entries)
		c.size = 0
	}
	c.size += cost - c.entries[key].cost
	c.entries[key] = cacheEntry{version: version, answer: answer, cost: cost}
}

// forget empties the cache.
func (c *responseCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
	c.size = 0
}
