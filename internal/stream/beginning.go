package stream

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
)

const (
	// lately is how far back clients that cannot resume may have missed things.
	lately = time.Hour
	// recentFor is how long an answer to what changed lately is good: what
	// happens meanwhile is heard of.
	recentFor = 10 * time.Second
)

// How a socket begins.
const (
	fresh    = "fresh"
	resumed  = "resumed"
	resynced = "resynced"
)

// beginning is what a socket gets first and where it goes on.
type beginning struct {
	how  string
	text []byte // the first frames
	next int64  // the position in the log
	seq  int64  // the number up to which it has been told
}

// beginning decides how a stream begins. See the package's documentation for
// why nothing is lost between what is read here and the log.
func (h *Hub) beginning(ctx context.Context, taken place, since *string) (beginning, error) {
	head, err := h.source.Version(ctx, taken.room.account)
	if err != nil {
		return beginning{}, err
	}
	head = max(head, taken.heard)
	begin := beginning{next: taken.next, seq: head}
	defer taken.room.knows(head, taken.next)
	if since == nil {
		return h.beginFresh(ctx, taken, begin)
	}
	if seq, err := strconv.ParseInt(*since, 10, 64); err == nil && seq >= 0 && seq <= head {
		return h.resume(ctx, taken, begin, seq)
	}
	return h.resync(begin), nil
}

// beginFresh tells a client that does not say what it knows which products
// changed lately.
func (h *Hub) beginFresh(ctx context.Context, taken place, begin beginning) (beginning, error) {
	kinds, err := h.changedLately(ctx, taken.room)
	if err != nil {
		return beginning{}, err
	}
	begin.how, begin.text = fresh, connectedFrame(begin.seq, h.Server)
	for _, each := range products() {
		if slices.ContainsFunc(each, func(kind string) bool { return kinds[kind] }) {
			begin.text = append(begin.text, each.bulkFrame(begin.seq)...)
		}
	}
	return begin, nil
}

// changedLately gives the kinds of resource that changed within the last hour.
func (h *Hub) changedLately(ctx context.Context, here *room) (map[string]bool, error) {
	here.mu.Lock()
	known := time.Since(here.asked) < recentFor
	kinds := here.together()
	if !known {
		clear(here.heard) // what is asked for now includes it
	}
	here.mu.Unlock()
	if known {
		return kinds, nil
	}
	asked := time.Now()
	found, err := h.source.ChangedKinds(ctx, here.account, h.now().Add(-lately), slices.Concat(products()...)...)
	if err != nil {
		return nil, err
	}
	here.mu.Lock()
	defer here.mu.Unlock()
	here.recent, here.asked = map[string]bool{}, asked
	for _, kind := range found {
		here.recent[kind] = true
	}
	return here.together(), nil
}

// together joins what was read with what was heard since.
func (r *room) together() map[string]bool {
	kinds := map[string]bool{}
	for _, from := range []map[string]bool{r.recent, r.heard} {
		for kind := range from {
			kinds[kind] = true
		}
	}
	return kinds
}

// resume goes on after a number that the client knows: from the log when it
// reaches back that far, else from the history.
func (h *Hub) resume(ctx context.Context, taken place, begin beginning, since int64) (beginning, error) {
	going := beginning{how: resumed, text: connectedFrame(since, h.Server), next: begin.next, seq: since}
	if since == begin.seq {
		return going, nil
	}
	if from, covered := taken.room.covers(since); covered {
		going.next = from
		return going, nil
	}
	if begin.seq-since > int64(h.Replay) {
		return h.resync(begin), nil
	}
	missed, err := h.source.EventsAfter(ctx, taken.room.account, since, h.Replay)
	if err != nil {
		return beginning{}, err
	}
	if !complete(missed, since, begin.seq) {
		return h.resync(begin), nil
	}
	for _, change := range missed {
		if event, told := eventFrame(change); told {
			going.text = append(going.text, event.text...)
		}
		going.seq = change.Seq
	}
	return going, nil
}

// complete tells whether changes are all there are after a number and up to
// the last: retention may have removed some.
func complete(found []changes.Change, after, head int64) bool {
	for i, change := range found {
		if change.Seq != after+1+int64(i) {
			return false
		}
	}
	return after+int64(len(found)) >= head
}

// resync makes a client load everything: what it missed is not known.
func (h *Hub) resync(begin beginning) beginning {
	begin.how, begin.text = resynced, append(connectedFrame(begin.seq, h.Server), bulkFrames(begin.seq)...)
	return begin
}
