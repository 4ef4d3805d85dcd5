package stream

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/internal/background"
	"github.com/signalbox/signalbox/internal/changes"
)

const (
	// retryField is the first line of an event stream: how many milliseconds a client waits before it connects again.
	retryField = "retry: 1000\n\n"
	// heartbeatComment is a comment, which clients ignore.
	heartbeatComment = ":\n\n"
)

// refetchEvent returns the event that makes OFREP clients evaluate their flags again. Its etag is the sequence number
// that their evaluation must include.
func refetchEvent(seq int64) []byte {
	number := strconv.FormatInt(seq, 10)
	return []byte("id: " + number + "\ndata: {\"type\":\"refetchEvaluation\",\"etag\":\"" + number + "\"}\n\n")
}

// altersEvaluation reports whether a change may alter the evaluation of flags. The end of an environment is
// recorded as a change of flags too.
func altersEvaluation(change changes.Change) bool {
	return slices.Contains(products()[0], change.Kind) && change.Event() != ""
}

// pace says when an event of event streams may follow another one.
type pace struct {
	clock int64 // the hub's clock
	join  time.Duration
}

func (h *Hub) pace() pace { return pace{h.clock(), h.Join} }

// refetch returns the event of a change for event streams, or nil if an event was sent only a moment ago. The change is
// then joined with others, and release sends their event. The caller holds the lock.
func (s *subscribers) refetch(seq int64, moment pace) []byte {
	if s.joined != 0 || moment.clock < s.next {
		s.joined = seq
		return nil
	}
	s.next = moment.clock + int64(moment.join)
	return refetchEvent(seq)
}

// release appends the event of the joined changes if it is due, else it returns how long to wait for it.
func (s *subscribers) release(limit int, moment pace, now time.Time) (appended bool, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.joined == 0:
		return false, 0
	case moment.clock < s.next:
		return false, time.Duration(s.next - moment.clock)
	}
	s.push(limit, frame{seq: s.joined, at: now.UnixMicro(), refetch: refetchEvent(s.joined), flags: true})
	s.joined, s.next = 0, moment.clock+int64(moment.join)
	return true, 0
}

// join sends the events of joined changes until ctx ends.
func (h *Hub) join(ctx context.Context) {
	background.Repeat(ctx, h.joining, func(context.Context) (time.Duration, error) {
		pause := time.Minute // the bell rings when a change is joined
		for _, subs := range h.allSubscribers() {
			appended, wait := subs.release(h.Queue, h.pace(), h.now())
			if appended {
				h.wake(subs)
			}
			if wait > 0 {
				pause = min(pause, wait)
			}
		}
		return pause, nil
	}, nil)
}

// takeRefetch appends the newest event of the log for an event stream. Older ones say the same.
func (s *socket) takeRefetch(log *eventLog, text []byte) (_ []byte, events int) {
	before := len(text)
	for ; s.next < log.end(); s.next++ {
		each := &log.frames[s.next-log.first]
		if each.refetch == nil || !s.advance(each) {
			continue
		}
		text, events = append(text[:before], each.refetch...), 1
	}
	return text, events
}

// beginFollowing returns how an event stream begins: with an event, unless it continues after the change lastEventID
// and nothing has happened since.
func (h *Hub) beginFollowing(ctx context.Context, reserved reservation, lastEventID string) (beginning, error) {
	head, err := h.source.Version(ctx, reserved.subs.account)
	if err != nil {
		return beginning{}, err
	}
	head = max(head, reserved.lastSeq)
	defer reserved.subs.lowerFloor(head, reserved.next)
	begin := beginning{how: "resumed", text: []byte(retryField), next: reserved.next, seq: head}
	since, known := h.resumable(reserved, lastEventID, head)
	switch {
	case lastEventID == "":
		begin.how = "fresh"
	case !known:
		begin.how = "resynced"
	default:
		missed, err := h.missedFlags(ctx, reserved.subs, since, head)
		if err != nil || !missed {
			return begin, err
		}
	}
	begin.add(frame{text: refetchEvent(head), events: 1})
	return begin, nil
}

// resumable reads the id of an event. It returns false if the changes after it are not known.
func (h *Hub) resumable(reserved reservation, lastEventID string, head int64) (since int64, known bool) {
	since, err := strconv.ParseInt(lastEventID, 10, 64)
	return since, err == nil && since > reserved.invalid && since <= head && head-since <= int64(h.Replay)
}

// missedFlags reports whether a change between two sequence numbers may have altered evaluations. If changes are no
// longer known, it assumes so.
func (h *Hub) missedFlags(ctx context.Context, subs *subscribers, since, head int64) (bool, error) {
	if since == head {
		return false, nil
	}
	if missed, known := subs.flagsBetween(since, head); known {
		return missed, nil
	}
	missed, err := h.source.EventsAfter(ctx, subs.account, since, h.Replay)
	if err != nil {
		return false, err
	}
	complete := len(missed) > 0 && missed[0].Seq == since+1 && missed[len(missed)-1].Seq >= head
	return !complete || slices.ContainsFunc(missed, altersEvaluation), nil
}

// flagsBetween is missedFlags for changes that are in the log. It returns false if some are not.
func (s *subscribers) flagsBetween(since, head int64) (missed, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.log.Load().frames, func(each frame) bool {
		return each.flags && since < each.seq && each.seq <= head
	}), since >= s.floor
}
