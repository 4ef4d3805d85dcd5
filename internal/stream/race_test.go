package stream_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/stream"
	"github.com/signalbox/signalbox/internal/suite"
)

// This test is for the race detector: sockets open, resume, receive and leave while events are
// sent all the time.
func TestHub_SocketsComeAndGo(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Heartbeat: 300 * time.Millisecond, MaxAge: 2 * time.Second, Queue: 256, Replay: 1 << 20})
	for range 100 {
		s.commit(flagChange("before"))
	}
	var over atomic.Bool
	var writing, living sync.WaitGroup
	writing.Go(func() {
		for i := 0; !over.Load(); i++ {
			s.commit(flagChange(fmt.Sprint("f-", i)))
			<-time.After(time.Millisecond)
		}
	})
	const atOnce = 50
	sockets := suite.Scale(200, 10_000)
	var received atomic.Int64
	for range atOnce {
		living.Go(func() {
			for range sockets / atOnce {
				received.Add(live(t, s))
			}
		})
	}
	living.Wait()
	over.Store(true)
	writing.Wait()
	t.Logf("%d sockets received %d events", sockets, received.Load())
}

// live opens a socket and reads some events, which must have consecutive numbers. Then it
// leaves in one of several ways.
func live(t *testing.T, s *stage) int64 {
	head, err := s.Version(t.Context(), here)
	if err != nil {
		t.Error(err)
	}
	p, status := s.dial(sinceQuery(strconv.FormatInt(max(0, head-rand.Int64N(100)), 10)))
	if p == nil {
		t.Errorf("refused with %d", status)
		return 0
	}
	defer p.Close()
	last, count := int64(-1), int64(0)
	for range rand.IntN(150) {
		got, err := p.read(soon)
		if err != nil {
			return count // closed as too slow or silent for too long
		}
		if got.Event == "flag_changed" {
			count++
		}
		if last > 0 && got.Seq != last+1 && got.ID != "" { // bulk events mean that the node was too slow
			t.Errorf("after %d came %s", last, got.text)
		}
		last = got.Seq
	}
	if rand.IntN(2) == 0 {
		_ = p.NetConn().Close()
	}
	return count
}
