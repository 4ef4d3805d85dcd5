package telemetry

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"
)

// children caches the series of a metric by their label values. A lookup takes no lock and does not allocate, unlike WithLabelValues
// or a sync.Map with a struct as key. Adding a series copies the map, which is rare. A series exists until the process ends, so new
// keys beyond the limit share the overflow series.
type children[K comparable, V any] struct {
	limit    int
	make     func(K) V
	overflow func() V // called once, on first use

	mu    sync.Mutex
	known atomic.Pointer[map[K]V]
	spare atomic.Pointer[V]
}

func newChildren[K comparable, V any](limit int, series func(K) V, overflow func() V) *children[K, V] {
	c := &children[K, V]{limit: limit, make: series, overflow: overflow}
	c.known.Store(&map[K]V{})
	return c
}

// get returns the series of a key, or the overflow series if there are too many.
func (c *children[K, V]) get(key K) V {
	if v, ok := c.find(key); ok {
		return v
	}
	return c.add(key)
}

// find is like get, but does not add a series.
func (c *children[K, V]) find(key K) (v V, ok bool) {
	if v, ok = (*c.known.Load())[key]; ok {
		return v, true
	}
	if spare := c.spare.Load(); spare != nil {
		return *spare, true
	}
	return v, false
}

func (c *children[K, V]) add(key K) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := *c.known.Load()
	if v, ok := known[key]; ok {
		return v
	}
	if len(known) >= c.limit {
		if c.spare.Load() == nil {
			c.spare.Store(new(c.overflow()))
		}
		return *c.spare.Load()
	}
	v := c.make(key)
	more := maps.Clone(known)
	more[key] = v
	c.known.Store(&more)
	return v
}

// maxLabel bounds the bytes of a label value.
const maxLabel = 200

// label makes a value valid and short: client_golang panics on invalid UTF-8, and every scrape repeats the value. A value that is
// already valid and short is not copied.
func label(value string) string {
	if len(value) > maxLabel {
		value = value[:maxLabel]
	}
	return strings.ToValidUTF8(value, "\uFFFD")
}
