package stream_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/stream"
)

func TestResume_ReplaysMissed(t *testing.T) {
	t.Parallel()
	n := newTestNode(t, storetest.New(t, "sqlite"))
	for name, companions := range map[string]int{"from the history": 0, "from the log": 1} {
		t.Run(name, func(t *testing.T) {
			since := n.head(t)
			for range companions {
				n.open(t, "").next()
			}
			for i := range 5 {
				n.makeFlag(t, fmt.Sprintf("f-%d-%d", companions, i))
			}
			p := n.open(t, strconv.FormatInt(since+2, 10))
			if got := p.next(); got.Seq != since+2 {
				t.Errorf("it does not go on after %d: %s", since+2, got.text)
			}
			for i := int64(2); i < 5; i++ {
				p.expect(event("flag_changed", fmt.Sprintf("f-%d-%d", companions, i), since+i+1))
			}
			n.record(t, flagChange("live"))
			p.expect(event("flag_changed", "live", n.head(t)))
			_ = p.Close()
		})
	}
}

func TestResume_UnknownNumber(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	n := newTestNode(t, database)
	n.record(t, flagChange("f"))
	head := n.head(t)
	for name, since := range map[string]string{
		"greater than the last": strconv.FormatInt(head+1000, 10), "no number": "yesterday", "negative": "-1",
		"a fraction": "1.5", "beyond all numbers": "99999999999999999999",
	} {
		t.Run(name, func(t *testing.T) {
			p := n.open(t, since)
			if got := p.next(); got.Seq != head {
				t.Errorf("got %s", got.text)
			}
			p.expect(everything(head)...)
			n.record(t, flagChange("live"))
			head = n.head(t)
			p.expect(event("flag_changed", "live", head))
		})
	}
	t.Run("removed by retention", func(t *testing.T) {
		if _, err := database.Raw(t).ExecContext(t.Context(), `DELETE FROM changes WHERE seq <= $1`, head-1); err != nil {
			t.Fatal(err)
		}
		// Use a node without a log. The first node may take a while to notice that the sockets
		// above are closed, and keeps its log until then.
		other := *n
		other.Node = anotherNode(t, database)
		p := other.open(t, strconv.FormatInt(head-2, 10))
		p.next()
		p.expect(everything(head)...)
		p = other.open(t, strconv.FormatInt(head-1, 10))
		p.next()
		p.expect(event("flag_changed", "live", head))
	})
}

func TestResume_EmptySince(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{})
	p, _ := s.open("since=")
	p.expect(everything(0)...)
}

func TestResume_TooOld(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Replay: 10})
	for range 11 {
		s.commit(flagChange("f"))
	}
	p, first := s.open("since=0")
	if first.Seq != 11 {
		t.Errorf("got %s", first.text)
	}
	p.expect(everything(11)...)
	p, first = s.open("since=1")
	if first.Seq != 1 {
		t.Errorf("got %s", first.text)
	}
	p.expect(event("flag_changed", "f", 2))
	if fresh, resumed, resynced := count(&s.opened, "fresh").Load(), count(&s.opened, "resumed").Load(), count(&s.opened, "resynced").Load(); fresh != 0 || resumed != 1 || resynced != 1 {
		t.Errorf("counted %d fresh, %d resumed, %d resynced", fresh, resumed, resynced)
	}
}

func TestResume_FleetFromLog(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{})
	s.commit(flagChange("before"))
	s.open("")
	for range 20 {
		s.commit(flagChange("f"))
	}
	for since := 1; since <= 20; since++ {
		p, _ := s.open(sinceQuery(strconv.Itoa(since)))
		for seq := since + 1; seq <= 21; seq++ {
			p.expect(event("flag_changed", "f", int64(seq)))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls != 0 {
		t.Errorf("the history was read %d times", s.calls)
	}
}

func TestResume_BeyondLog(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Queue: 8, Replay: 100})
	companion, _ := s.open("")
	for range 40 {
		s.commit(flagChange("f"))
		companion.next()
	}
	for since := range 41 {
		p, _ := s.open(sinceQuery(strconv.Itoa(since)))
		for seq := since + 1; seq <= 40; seq++ {
			p.expect(event("flag_changed", "f", int64(seq)))
		}
	}
}

func TestResume_WithoutSinceToldRecentChanges(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	n := newTestNode(t, database)
	p := n.open(t, "")
	p.next()
	n.record(t, changes.Change{Kind: "flag", Key: "old", Action: changes.Updated}, changes.Change{Kind: "log_group", Key: "g", Action: changes.Updated})
	p.expect(event("flag_changed", "old", n.head(t)-1), event("group_changed", "g", n.head(t)))
	p = n.open(t, "") // this node has the change from the feed
	p.next()
	p.expect(bulk("flags_changed", n.head(t)), bulk("loggers_changed", n.head(t)))
	// Another node has nothing from the feed, and the history is older than an hour.
	if _, err := database.Raw(t).ExecContext(t.Context(), `UPDATE changes SET created_at = created_at - 3601000000 WHERE kind = 'flag'`); err != nil {
		t.Fatal(err)
	}
	other := *n
	other.Node = anotherNode(t, database)
	p = other.open(t, "")
	p.next()
	p.expect(bulk("loggers_changed", n.head(t)))
	other.record(t, changes.Change{Kind: "config", Key: "c", Action: changes.Updated})
	p.expect(event("config_changed", "c", n.head(t)))
}

func TestMissed_ClientsReload(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Reconnect: time.Hour})
	s.commit(flagChange("f"))
	p, _ := s.open("since=1")
	s.commit(flagChange("g"))
	p.expect(event("flag_changed", "g", 2))
	s.Missed(here, 4)
	p.expect(everything(4)...) // does not wait for the next change
	s.Hear(changes.Change{Account: here, Seq: 5, Kind: "flag", Key: "h"})
	p.expect(event("flag_changed", "h", 5))
}

func TestRewound_ClientsReload(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Reconnect: time.Hour})
	for range 5 {
		s.commit(flagChange("f"))
	}
	p, _ := s.open("since=5")
	s.rewind(2)
	p.expect(everything(0)...)
	s.commit(flagChange("again")) // reuses a sequence number that the socket has received before
	p.expect(event("flag_changed", "again", 3))
	p, first := s.open("since=5")
	if first.Seq != 3 {
		t.Errorf("got %s", first.text)
	}
	p.expect(everything(3)...)
}

// After a rewind, the new history reuses sequence numbers that clients know from the old one.
func TestRewound_NobodyResumesFromOldNumbers(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Replay: 3})
	for range 5 {
		s.commit(flagChange("lost"))
	}
	s.rewind(2)
	for range 8 {
		s.commit(flagChange("again"))
	}
	for since, doubtful := range map[string]bool{"0": true, "2": true, "5": true, "8": true, "9": false} { // the last number is 10
		p, first := s.open("since=" + since)
		if resumed := strconv.FormatInt(first.Seq, 10) == since; resumed == doubtful {
			t.Errorf("after %s the stream begins with %s", since, first.text)
		}
		if doubtful {
			p.expect(everything(10)...)
		} else {
			p.expect(event("flag_changed", "again", 10))
		}
	}
}

// A fresh socket is told which products changed in the last hour. This comes from the feed,
// which may lag behind the database.
func TestResume_FeedIsBehind(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{})
	s.open("") // caches that nothing changed recently
	change := s.record(flagChange("f"))
	p, first := s.open("")
	if first.Seq != 1 {
		t.Errorf("got %s", first.text)
	}
	s.Hear(change)
	p.expect(bulk("flags_changed", 1))
	s.commit(changes.Change{Kind: "config", Key: "c", Action: changes.Updated})
	p.expect(event("config_changed", "c", 2))
	s.mu.Lock()
	s.asked = 0
	s.mu.Unlock()
	p, _ = s.open("") // changes from the feed are known without a query
	p.expect(bulk("flags_changed", 2), bulk("configs_changed", 2))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked != 0 {
		t.Errorf("the store was asked %d times", s.asked)
	}
}

func TestOpen_CountsFirstEvents(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Replay: 10})
	for range 11 {
		s.commit(flagChange("f"))
	}
	sent := int64(0)
	for _, each := range []struct {
		query  string
		events int64
	}{
		{"", 1}, {"since=5", 6}, {"since=0", 3}, {"since=11", 0},
	} {
		p, _ := s.open(each.query)
		for range each.events {
			p.next()
		}
		sent += each.events
		storetest.Wait(t, soon, "what "+each.query+" got is counted", func() bool { return s.sent.Load() == sent })
		_ = p.Close()
	}
}
