package stream

import "testing"

// What a slow reader may be behind is what the settings say, and hardly more.
func TestTheLogHoldsTheLimitAtAllTimes(t *testing.T) {
	t.Parallel()
	const limit = 64
	here := newRoom("account", 1, 0)
	here.knows(0, 0)
	for seq := int64(1); seq <= 1000; seq++ {
		here.append(limit, frame{seq: seq})
		log := here.log.Load()
		if held := int64(len(log.frames)); held < min(seq, limit) || held > limit+limit/slack {
			t.Fatalf("after %d events it holds %d", seq, held)
		}
		if oldest := log.frames[0].seq; log.end() != seq || here.floor != oldest-1 {
			t.Fatalf("after %d events it ends at %d, begins with number %d and has all above %d", seq, log.end(), oldest, here.floor)
		}
	}
}
