package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/coalesce"
)

const (
	// defaultSnapshotBytes is the value of Options.SnapshotBytes if none is set.
	defaultSnapshotBytes = 128 << 20
	// maxSnapshotKeys bounds the number of snapshots: callers may name any environment.
	maxSnapshotKeys = 1000
	// snapshotOverhead is the approximate memory of a snapshot besides its text.
	snapshotOverhead = 512
	// snapshotBuilds is how many snapshots are built at once. Building one takes
	// several times the memory of the result.
	snapshotBuilds = 2
	// maxUntouched is how many changes are searched at most. If a snapshot is further
	// behind, it is built anew.
	maxUntouched = 500
)

// snapshotKey identifies a snapshot.
type snapshotKey struct {
	account, environment string
	parts                SnapshotParts
	flagd                bool // the flags in the format of flagd
}

// encodedSnapshot is a snapshot in its encoded form, shared by all requests.
type encodedSnapshot struct {
	version int64 // the seq: the account's last change that the snapshot includes
	text    []byte
	number  span // the place of the version in text; empty if text does not have it
	etag    string
	zipped  func() []byte // returns the compressed text; compresses at the first call
	size    atomic.Int64  // of text and its compressed form
	files   *fileSet      // nil unless the snapshot is for level files

	stale struct { // the same snapshot, marked as stale
		mu    sync.Mutex
		since time.Time
		made  *encodedSnapshot
	}
}

// span is a part of a text.
type span struct{ from, to int }

// newEncodedSnapshot returns a snapshot. omitted are the parts of text that the ETag does
// not cover, the version first. Most changes of an account do not concern a service, and
// must not make it load the whole snapshot again.
func newEncodedSnapshot(version int64, text []byte, omitted ...span) *encodedSnapshot {
	content, from := sha256.New(), 0
	for _, each := range omitted {
		_, _ = content.Write(text[from:each.from]) // a hash takes everything
		from = each.to
	}
	_, _ = content.Write(text[from:])
	return encoded(version, text, omitted[0], tagOf(content.Sum(nil)))
}

func encoded(version int64, text []byte, number span, etag string) *encodedSnapshot {
	made := &encodedSnapshot{version: version, text: text, number: number, etag: etag}
	made.size.Store(int64(len(text) + snapshotOverhead))
	made.zipped = sync.OnceValue(func() []byte {
		compressed := compress(text)
		made.size.Add(int64(len(compressed)))
		return compressed
	})
	return made
}

// at returns the snapshot with a later version. The content must be the same.
func (e *encodedSnapshot) at(version int64) *encodedSnapshot {
	if e.number == (span{}) {
		return encoded(version, e.text, e.number, e.etag)
	}
	before, number, after := e.text[:e.number.from], strconv.FormatInt(version, 10), e.text[e.number.to:]
	next := encoded(version, slices.Concat(before, []byte(number), after), span{len(before), len(before) + len(number)}, e.etag)
	next.files = e.files
	return next
}

// reply answers with the snapshot. If the database is away, since is when the snapshot
// was last known to be current.
func (e *encodedSnapshot) reply(c *call, since time.Time) reply {
	c.writer.set(seqHeader, strconv.FormatInt(e.version, 10))
	return reply{status: http.StatusOK, body: e.text, zipped: e.zipped, etag: e.etag, since: since}
}

// markStale returns the snapshot marked as stale, for the time in which the database is
// away. All requests share the result.
func (e *encodedSnapshot) markStale(since time.Time) *encodedSnapshot {
	e.stale.mu.Lock()
	defer e.stale.mu.Unlock()
	if e.stale.made == nil || !e.stale.since.Equal(since) {
		body := bytes.TrimSuffix(e.text, []byte("}\n"))
		text := slices.Concat(body, []byte(`,"meta":{"stale_since":`+sinceText(since)+"}}\n"))
		e.stale.made, e.stale.since = newEncodedSnapshot(e.version, text, e.number), since
	}
	return e.stale.made
}

// snapshotCache keeps the newest snapshot of each key. Callers that need the same
// snapshot share one build: a starting fleet costs one read and one encoding.
type snapshotCache struct {
	source  SnapshotSource
	history History
	limit   int64                                                // the maximum bytes of all snapshots
	builds  chan struct{}                                        // has one value for each running build
	updates coalesce.Group[snapshotKey, int64, *encodedSnapshot] // the running updates of each key to a version

	mu   sync.Mutex
	kept map[snapshotKey]*heldSnapshot
	// forgotten is when all snapshots were last dropped, in seconds.
	forgotten atomic.Int64
}

// heldSnapshot is the newest snapshot of a key.
type heldSnapshot struct {
	current atomic.Pointer[encodedSnapshot]
	used    atomic.Int64 // when it was last asked for, in microseconds
	// confirmed is when it was last known to be current, in microseconds.
	confirmed atomic.Int64
	modified  lastModified
}

func newSnapshotCache(source SnapshotSource, history History, limit int) *snapshotCache {
	return &snapshotCache{source: source, history: history, limit: int64(limit), builds: make(chan struct{}, snapshotBuilds), kept: map[snapshotKey]*heldSnapshot{}}
}

// atLeast returns the snapshot if it has this version or a later one, else nil.
func (h *heldSnapshot) atLeast(version int64) *encodedSnapshot {
	if current := h.current.Load(); current != nil && current.version >= version {
		return current
	}
	return nil
}

// confirm notes that the snapshot was current at an instant.
func (h *heldSnapshot) confirm(at time.Time) { moveTo(&h.confirmed, at) }

// get returns a snapshot with this version or a later one.
func (c *snapshotCache) get(ctx context.Context, key snapshotKey, version int64) (*encodedSnapshot, error) {
	held := c.holder(key)
	now := time.Now().UnixMicro()
	held.used.Store(now)
	if current := held.atLeast(version); current != nil {
		held.confirmed.Store(now)
		return current, nil
	}
	return c.bringUp(ctx, key, held, version)
}

// refresh brings the snapshot of a key up to a version. It does not count as a use, so
// that unused snapshots are still dropped. A snapshot that can no longer be built is
// dropped too: the old one would be outdated.
func (c *snapshotCache) refresh(ctx context.Context, key snapshotKey, held *heldSnapshot, version int64) error {
	if held.atLeast(version) != nil {
		return nil
	}
	_, err := c.bringUp(ctx, key, held, version)
	if err != nil && ctx.Err() == nil && !isAway(ctx, err) {
		c.remove(key, held)
	}
	return err
}

// bringUp brings the snapshot of a key up to a version. Concurrent callers share the work.
func (c *snapshotCache) bringUp(ctx context.Context, key snapshotKey, held *heldSnapshot, version int64) (*encodedSnapshot, error) {
	return c.updates.Do(ctx, key, version, func(ctx context.Context, versions []int64) (*encodedSnapshot, error) {
		newest := slices.Max(versions)
		if current := held.atLeast(newest); current != nil { // made while these callers waited
			return current, nil
		}
		current := held.current.Load()
		if current != nil && c.isUntouched(ctx, key, current.version, newest) {
			next := current.at(newest)
			c.keep(key, held, next)
			return next, nil
		}
		return c.make(ctx, key, held)
	})
}

// renew reads the levels for files again, unless another caller just did.
func (c *snapshotCache) renew(ctx context.Context, key snapshotKey, version int64) (*encodedSnapshot, error) {
	held := c.holder(key)
	return c.updates.Do(ctx, key, version, func(ctx context.Context, versions []int64) (*encodedSnapshot, error) {
		if current := held.atLeast(slices.Max(versions)); current != nil && !current.files.isOld() {
			return current, nil
		}
		return c.make(ctx, key, held)
	})
}

// isUntouched reports whether it is known that no change between two versions concerns a
// snapshot.
func (c *snapshotCache) isUntouched(ctx context.Context, key snapshotKey, from, to int64) bool {
	if c.history == nil || to-from > maxUntouched {
		return false
	}
	news, err := c.history.EventsAfter(ctx, key.account, from, int(to-from))
	if err != nil {
		return false
	}
	for _, change := range news {
		if change.Seq != from+1 || key.parts.has(change.Kind) {
			return false
		}
		from = change.Seq
	}
	return from == to
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

// make builds a newer snapshot.
func (c *snapshotCache) make(ctx context.Context, key snapshotKey, held *heldSnapshot) (*encodedSnapshot, error) {
	select {
	case c.builds <- struct{}{}:
		defer func() { <-c.builds }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	read := readSnapshot
	if key.flagd {
		read = readFlagd
	}
	made, err := read(ctx, c.source, key)
	if err != nil {
		c.drop(key, held)
		return nil, err
	}
	c.keep(key, held, made)
	return made, nil
}

// keep stores a newer snapshot. If all snapshots together are too large, it drops others.
func (c *snapshotCache) keep(key snapshotKey, held *heldSnapshot, made *encodedSnapshot) {
	held.current.Store(made)
	held.confirmed.Store(time.Now().UnixMicro())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept[key] = held // the key may have been dropped meanwhile
	for len(c.kept) > maxSnapshotKeys {
		delete(c.kept, c.surplus(key, func(*heldSnapshot) int64 { return 1 }))
	}
	for len(c.kept) > 1 && c.size() > c.limit {
		delete(c.kept, c.surplus(key, (*heldSnapshot).bytes))
	}
}

// remove removes the snapshot of a key.
func (c *snapshotCache) remove(key snapshotKey, held *heldSnapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept[key] == held {
		delete(c.kept, key)
	}
}

// lately returns the snapshots that were used since an instant, most recently used first.
// An empty account means all accounts.
func (c *snapshotCache) lately(account string, since time.Time) []keptSnapshot {
	var found []keptSnapshot
	c.mu.Lock()
	for key, held := range c.kept {
		if current := held.current.Load(); current != nil && (account == "" || key.account == account) && held.used.Load() >= since.UnixMicro() {
			found = append(found, keptSnapshot{key, held})
		}
	}
	c.mu.Unlock()
	slices.SortFunc(found, func(a, b keptSnapshot) int { return cmp.Compare(b.held.used.Load(), a.held.used.Load()) })
	return found
}

// keptSnapshot is a snapshot and its key.
type keptSnapshot struct {
	key  snapshotKey
	held *heldSnapshot
}

// drop removes the holder of a key whose snapshot was never built.
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
		held = &heldSnapshot{}
		c.kept[key] = held
	}
	return held
}

// size returns the bytes of all snapshots. The caller holds the lock.
func (c *snapshotCache) size() (bytes int64) {
	for _, held := range c.kept {
		bytes += held.bytes()
	}
	return bytes
}

// bytes returns the approximate memory of the snapshot.
func (h *heldSnapshot) bytes() int64 {
	if current := h.current.Load(); current != nil {
		return snapshotOverhead + current.size.Load() + current.files.bytes()
	}
	return snapshotOverhead
}

// surplus returns the key of the snapshot to drop next, which is never except. The caller holds the
// lock. Snapshots that were not used within maxStale go first, then snapshots of the account with
// the highest total weight, so that no account drives out the snapshots of another. Among equals
// the least recently used goes first.
func (c *snapshotCache) surplus(except snapshotKey, weigh func(*heldSnapshot) int64) (found snapshotKey) {
	weights := map[string]int64{}
	for key, held := range c.kept {
		weights[key.account] += weigh(held)
	}
	idle := time.Now().Add(-maxStale).UnixMicro()
	var most, since int64
	for key, held := range c.kept {
		used, weight := held.used.Load(), weights[key.account]
		if used < idle {
			weight = math.MaxInt64
		}
		if key != except && (weight > most || weight == most && used < since) {
			found, most, since = key, weight, used
		}
	}
	return found
}

// forget drops all snapshots.
func (c *snapshotCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = map[snapshotKey]*heldSnapshot{}
	c.forgotten.Store(time.Now().Unix())
}
