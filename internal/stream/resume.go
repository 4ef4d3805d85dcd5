package stream

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/internal/connections"
)

// beginning has the first frames of a socket, and the position where it continues.
type beginning struct {
	how    string // fresh, resumed or resynced
	text   []byte // the first frames
	events int    // how many events the first frames have
	next   int64  // the position in the log
	seq    int64  // the last sequence number that the first frames include
}

func (b *beginning) add(each frame) {
	b.text, b.events = append(b.text, each.text...), b.events+each.events
}

// beginning returns how a stream begins. The package documentation explains why nothing is lost.
func (h *Hub) beginning(ctx context.Context, reserved reservation, wanted connections.Subscription) (beginning, error) {
	head, err := h.source.Version(ctx, reserved.subs.account)
	if err != nil {
		return beginning{}, err
	}
	head = max(head, reserved.lastSeq)
	begin := beginning{next: reserved.next, seq: head}
	defer reserved.subs.lowerFloor(head, reserved.next)
	since := wanted.Since
	if since == nil {
		return h.beginFresh(ctx, reserved, begin)
	}
	if seq, err := strconv.ParseInt(*since, 10, 64); err == nil && seq > reserved.invalid && seq <= head {
		return h.resume(ctx, reserved, begin, seq, wanted.AllTopics)
	}
	return h.resync(begin), nil
}

// beginFresh begins the stream of a client without a since. It tells which products changed recently.
func (h *Hub) beginFresh(ctx context.Context, reserved reservation, begin beginning) (beginning, error) {
	kinds, err := h.changedRecently(ctx, reserved, begin.seq)
	if err != nil {
		return beginning{}, err
	}
	begin.how, begin.text = "fresh", connectedFrame(begin.seq, h.Server)
	for _, each := range products() {
		if slices.ContainsFunc(each, func(kind string) bool { return kinds[kind] }) {
			begin.add(each.bulkFrame(begin.seq))
		}
	}
	return begin, nil
}

// changedRecently returns the kinds that changed in the last hour. It includes every change up to head.
func (h *Hub) changedRecently(ctx context.Context, reserved reservation, head int64) (map[string]bool, error) {
	if kinds, known := reserved.recent.get(head); known {
		return kinds, nil
	}
	asked := time.Now()
	found, err := h.source.ChangedKinds(ctx, reserved.subs.account, h.now().Add(-recentPeriod), slices.Concat(products()...)...)
	if err != nil {
		return nil, err
	}
	return reserved.recent.store(found, head, asked), nil
}

// resume continues after the sequence number since: from the log if that has all later events, else from the history.
func (h *Hub) resume(ctx context.Context, reserved reservation, begin beginning, since int64, allTopics bool) (beginning, error) {
	resumed := beginning{how: "resumed", text: connectedFrame(since, h.Server), next: begin.next, seq: since}
	if since == begin.seq {
		return resumed, nil
	}
	if from, covered := reserved.subs.covers(since); covered {
		resumed.next = from
		return resumed, nil
	}
	if begin.seq-since > int64(h.Replay) {
		return h.resync(begin), nil
	}
	missed, err := h.source.EventsAfter(ctx, reserved.subs.account, since, h.Replay)
	if err != nil {
		return beginning{}, err
	}
	last := since + int64(len(missed))
	if last < begin.seq || missed[len(missed)-1].Seq != last { // retention has removed some changes
		return h.resync(begin), nil
	}
	for _, change := range missed {
		if event, exists := eventFrame(change); exists && (allTopics || !event.other) {
			resumed.add(event)
		}
		resumed.seq = change.Seq
	}
	return resumed, nil
}

// resync makes a client load everything, because the changes that it missed are not known.
func (h *Hub) resync(begin beginning) beginning {
	begin.how, begin.text = "resynced", connectedFrame(begin.seq, h.Server)
	begin.add(reloadFrame(begin.seq, 0))
	return begin
}
