package api

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxSnapshots bounds the bytes of snapshots that are kept, of all accounts.
	// The one that was made last is kept whatever its size.
	maxSnapshots = 128 << 20
	// maxSnapshotKeys bounds their number: an environment may have any name.
	maxSnapshotKeys = 1000
	// snapshotOverhead is about what one takes besides its bytes.
	snapshotOverhead = 512
	// snapshotBuilds is how many snapshots are read and encoded at once, which
	// takes several times the memory of the result.
	snapshotBuilds = 2
)

// snapshotKey names a snapshot.
type snapshotKey struct {
	account, environment string
	parts                SnapshotParts
}

// encodedSnapshot is a snapshot as it is sent, shared by all who ask for it.
type encodedSnapshot struct {
	version int64
	text    []byte
	etag    string
	zipped  func() []byte // compressed when first asked for
	size    atomic.Int64  // of both

	stale struct { // the same, marked as stale
		mu    sync.Mutex
		since time.Time
		made  *encodedSnapshot
	}
}

func newEncodedSnapshot(version int64, text []byte) *encodedSnapshot {
	made := &encodedSnapshot{version: version, text: text, etag: hashed(text)}
	made.size.Store(int64(len(text) + snapshotOverhead))
	made.zipped = sync.OnceValue(func() []byte {
		compressed := compress(text)
		made.size.Add(int64(len(compressed)))
		return compressed
	})
	return made
}

// reply answers with the snapshot, which was last confirmed at since if the database
// is away.
func (e *encodedSnapshot) reply(since time.Time) reply {
	if e == nil { // there is an error instead
		return reply{}
	}
	return reply{status: http.StatusOK, body: e.text, zipped: e.zipped, etag: e.etag, since: since}
}

// markStale returns the snapshot as it is sent while the database is away, made once
// for all who ask for it.
func (e *encodedSnapshot) markStale(since time.Time) *encodedSnapshot {
	e.stale.mu.Lock()
	defer e.stale.mu.Unlock()
	if e.stale.made == nil || !e.stale.since.Equal(since) {
		body := bytes.TrimSuffix(e.text, []byte("}\n"))
		text := slices.Concat(body, []byte(`,"meta":{"stale_since":`+sinceText(since)+"}}\n"))
		e.stale.made, e.stale.since = newEncodedSnapshot(e.version, text), since
	}
	return e.stale.made
}

// snapshotCache keeps snapshots by the account's version, one of each key. Callers
// that need the same one wait while one of them makes it: a fleet that starts costs
// one read and one encoding.
type snapshotCache struct {
	source SnapshotSource
	builds chan struct{} // holds one value for each snapshot that is being made

	mu   sync.Mutex
	kept map[snapshotKey]*heldSnapshot
}

// heldSnapshot is the newest snapshot of a key.
type heldSnapshot struct {
	making  chan struct{} // holds a value while a caller makes a newer one
	current atomic.Pointer[encodedSnapshot]
	used    atomic.Int64 // when it was asked for last, in microseconds
	// confirmed is when it was last known to be current, in microseconds.
	confirmed atomic.Int64
}

func newSnapshotCache(source SnapshotSource) *snapshotCache {
	return &snapshotCache{source: source, builds: make(chan struct{}, snapshotBuilds), kept: map[snapshotKey]*heldSnapshot{}}
}

// atLeast returns the snapshot if it is of a version or newer, else nil.
func (h *heldSnapshot) atLeast(version int64) *encodedSnapshot {
	if current := h.current.Load(); current != nil && current.version >= version {
		return current
	}
	return nil
}

// get returns a snapshot of at least a version.
func (c *snapshotCache) get(ctx context.Context, key snapshotKey, version int64) (*encodedSnapshot, error) {
	held := c.holder(key)
	now := time.Now().UnixMicro()
	held.used.Store(now)
	if current := held.atLeast(version); current != nil {
		held.confirmed.Store(now)
		return current, nil
	}
	select {
	case held.making <- struct{}{}:
		defer func() { <-held.making }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if current := held.atLeast(version); current != nil { // made while this caller waited
		return current, nil
	}
	return c.make(ctx, key, held)
}

// held returns the snapshot of a key that is in memory, or nil, and when it was last
// known to be current.
func (c *snapshotCache) held(key snapshotKey) (*encodedSnapshot, time.Time) {
	held := c.holder(key)
	held.used.Store(time.Now().UnixMicro())
	current := held.current.Load()
	if current == nil {
		c.drop(key, held)
	}
	return current, instant(&held.confirmed)
}

// make makes a newer snapshot and drops others when all together are too large.
func (c *snapshotCache) make(ctx context.Context, key snapshotKey, held *heldSnapshot) (*encodedSnapshot, error) {
	select {
	case c.builds <- struct{}{}:
		defer func() { <-c.builds }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	made, err := readSnapshot(ctx, c.source, key)
	if err != nil {
		c.drop(key, held)
		return nil, err
	}
	held.current.Store(made)
	held.confirmed.Store(time.Now().UnixMicro())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept[key] = held // it may have been dropped meanwhile
	for len(c.kept) > maxSnapshotKeys || c.size() > maxSnapshots && len(c.kept) > 1 {
		delete(c.kept, c.oldest(key))
	}
	return made, nil
}

// drop removes the holder of a key that was never made.
func (c *snapshotCache) drop(key snapshotKey, held *heldSnapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept[key] == held && held.current.Load() == nil {
		delete(c.kept, key)
	}
}

func (c *snapshotCache) holder(key snapshotKey) *heldSnapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	held := c.kept[key]
	if held == nil {
		held = &heldSnapshot{making: make(chan struct{}, 1)}
		c.kept[key] = held
	}
	return held
}

// size returns the bytes of all snapshots; the lock is held.
func (c *snapshotCache) size() (bytes int64) {
	for _, held := range c.kept {
		bytes += snapshotOverhead
		if current := held.current.Load(); current != nil {
			bytes += current.size.Load()
		}
	}
	return bytes
}

// oldest returns the key that was not asked for the longest, but for one; the lock
// is held.
func (c *snapshotCache) oldest(but snapshotKey) (oldest snapshotKey) {
	var since int64
	for key, held := range c.kept {
		if used := held.used.Load(); key != but && (since == 0 || used < since) {
			oldest, since = key, used
		}
	}
	return oldest
}

// forget drops all snapshots.
func (c *snapshotCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = map[snapshotKey]*heldSnapshot{}
}
