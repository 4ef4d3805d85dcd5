package stream

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
)

// How a socket begins.
const (
	fresh    = "fresh"
	resumed  = "resumed"
	resynced = "resynced"
)

// beginning is what a socket gets first and where it goes on.
type beginning struct {
	how    string
	text   []byte // the first frames
	events int    // how many events are among them
	next   int64  // the position in the log
	seq    int64  // the number up to which it has been told
}

func (b *beginning) add(each frame) {
	b.text, b.events = append(b.text, each.text...), b.events+each.events
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
	if seq, err := strconv.ParseInt(*since, 10, 64); err == nil && seq > taken.doubtful && seq <= head {
		return h.resume(ctx, taken, begin, seq)
	}
	return h.resync(begin), nil
}

// beginFresh tells a client that does not say what it knows which products
// changed lately.
func (h *Hub) beginFresh(ctx context.Context, taken place, begin beginning) (beginning, error) {
	kinds, err := h.changedLately(ctx, taken, begin.seq)
	if err != nil {
		return beginning{}, err
	}
	begin.how, begin.text = fresh, connectedFrame(begin.seq, h.Server)
	for _, each := range products() {
		if slices.ContainsFunc(each, func(kind string) bool { return kinds[kind] }) {
			begin.add(each.bulkFrame(begin.seq))
		}
	}
	return begin, nil
}

// changedLately gives the kinds of resource that changed within the last hour,
// up to the account's last number at least: what is later is in the log.
func (h *Hub) changedLately(ctx context.Context, taken place, head int64) (map[string]bool, error) {
	if kinds, known := taken.recent.recall(head); known {
		return kinds, nil
	}
	asked := time.Now()
	found, err := h.source.ChangedKinds(ctx, taken.room.account, h.now().Add(-lately), slices.Concat(products()...)...)
	if err != nil {
		return nil, err
	}
	kinds := map[string]bool{}
	for _, kind := range found {
		kinds[kind] = true
	}
	taken.recent.learn(kinds, head, asked)
	return kinds, nil
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
			going.add(event)
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
	begin.how, begin.text = resynced, connectedFrame(begin.seq, h.Server)
	begin.add(everything(begin.seq))
	return begin
}
