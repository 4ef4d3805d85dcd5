package stream

import "testing"

// A slow reader may lag behind by the configured limit and hardly more.
func TestSubscribers_LogKeepsLimit(t *testing.T) {
	t.Parallel()
	const limit = 64
	subs := newSubscribers("account", 1)
	subs.lowerFloor(0, 0)
	for seq := int64(1); seq <= 1000; seq++ {
		subs.append(limit, frame{seq: seq})
		log := subs.log.Load()
		if held := int64(len(log.frames)); held < min(seq, limit) || held > limit+limit/slack {
			t.Fatalf("after %d events it holds %d", seq, held)
		}
		if oldest := log.frames[0].seq; log.end() != seq || subs.floor != oldest-1 {
			t.Fatalf("after %d events it ends at %d, begins with number %d and has all above %d", seq, log.end(), oldest, subs.floor)
		}
	}
}
