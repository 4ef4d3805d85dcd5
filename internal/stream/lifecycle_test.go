package stream_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/stream"
)

func TestHeartbeat_SentWhileIdle(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Heartbeat: 300 * time.Millisecond})
	storetest.Wait(t, 3*soon, "five heartbeats came to one socket", func() bool { return s.answered(5) == 5 })
}

// answered opens a socket and answers its heartbeats. It stops after enough of them, or when
// the socket ends, because a busy machine may answer too late.
func (s *stage) answered(enough int) (count int) {
	s.t.Helper()
	p, _ := s.open("")
	defer p.Close()
	for count < enough {
		kind, text, err := p.ReadMessage()
		if err != nil {
			return count
		}
		if kind == websocket.TextMessage && string(text) == "ping" {
			count++
			_ = p.WriteMessage(websocket.TextMessage, []byte("pong"))
		}
	}
	return count
}

func TestHeartbeat_SilentPeerIsDropped(t *testing.T) {
	t.Parallel()
	const heartbeat = 300 * time.Millisecond
	s := newStage(t, stream.Options{Heartbeat: heartbeat})
	storetest.Wait(t, 3*soon, "only the silent peer is dropped", func() bool { return s.outlives(heartbeat) })
}

// outlives opens a silent socket and a socket that sends protocol pings, and waits until the
// silent one is dropped. It reports whether the other is still open. A busy machine may pause
// too long between two pings.
func (s *stage) outlives(heartbeat time.Duration) bool {
	s.t.Helper()
	dropped := count(&s.closed, "silent").Load()
	began := time.Now()
	silent, _ := s.open("")
	pinging, _ := s.open("")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for pinging.WriteControl(websocket.PingMessage, nil, time.Now().Add(soon)) == nil {
			<-time.After(heartbeat / 8)
		}
	}()
	_, err := silent.read(soon)
	if closed, is := errors.AsType[*websocket.CloseError](err); is && closed.Code != websocket.CloseAbnormalClosure {
		s.t.Errorf("it ended with %v", err)
	}
	if took := time.Since(began); took < 3*heartbeat {
		s.t.Errorf("it was dropped after %s", took)
	}
	storetest.Wait(s.t, soon, "it is counted", func() bool { return count(&s.closed, "silent").Load() > dropped })
	seq := s.commit(flagChange("f"))
	var got message
	for err = nil; err == nil && got.Seq != seq; {
		got, err = pinging.read(soon)
	}
	_ = pinging.Close()
	<-done
	return err == nil
}

func TestSocket_MaxAge(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{MaxAge: 500 * time.Millisecond, Heartbeat: unhurried})
	began := time.Now()
	p, _ := s.open("")
	p.ends(websocket.CloseServiceRestart, soon)
	if took := time.Since(began); took < 400*time.Millisecond {
		t.Errorf("it was closed after %s", took)
	}
}

func TestSocket_AnswersClose(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{})
	p, _ := s.open("")
	if err := p.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseGoingAway, ""), time.Now().Add(soon)); err != nil {
		t.Fatal(err)
	}
	p.ends(websocket.CloseGoingAway, soon)
	storetest.Wait(t, soon, "it is gone", func() bool { return count(&s.closed, "peer").Load() == 1 })
}

func TestSocket_IgnoresMessages(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{})
	p, _ := s.open("")
	for _, kind := range []int{websocket.TextMessage, websocket.BinaryMessage} {
		if err := p.WriteMessage(kind, []byte(strings.Repeat("x", 3<<10))); err != nil {
			t.Fatal(err)
		}
	}
	s.commit(flagChange("f"))
	p.expect(event("flag_changed", "f", 1))
}

func TestKey_EndedClosesItsSockets(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		n := newTestNode(t, database)
		other := *n
		if database.Kind == "postgres" {
			other.Node = anotherNode(t, database)
		}
		for name, end := range map[string]func(key madeKey){
			"revoked": func(key madeKey) {
				n.call(t, http.MethodPost, "/api/v1/api_keys/"+key.id+"/actions/revoke", "", http.StatusOK)
			},
			"deleted":                    func(key madeKey) { n.call(t, http.MethodDelete, "/api/v1/api_keys/"+key.id, "", http.StatusNoContent) },
			"given an expiry that comes": func(key madeKey) { n.expireSoon(t, key) },
			"given a lower role":         func(key madeKey) { n.replaceKey(t, key, `"name":"k","role":"VIEWER"`) },
			"narrowed to evaluation": func(key madeKey) {
				n.replaceKey(t, key, `"name":"k","access":"evaluate","scopes":{"environments":["production"]}`)
			},
		} {
			t.Run(name, func(t *testing.T) {
				key := n.makeKey(t, "")
				node := *other.Node
				node.Key = key.secret
				as := other
				as.Node = &node
				p, bystander := as.open(t, ""), n.open(t, strconv.FormatInt(n.head(t), 10))
				p.next()
				bystander.next()
				began := time.Now()
				end(key)
				p.ends(websocket.ClosePolicyViolation, soon)
				t.Logf("closed after %s", time.Since(began))
				n.record(t, flagChange("f"))
				bystander.expect(event("flag_changed", "f", n.head(t)))
			})
		}
	})
}

func (n *testNode) replaceKey(t testing.TB, key madeKey, attributes string) {
	t.Helper()
	n.call(t, http.MethodPut, "/api/v1/api_keys/"+key.id, `{"data":{"type":"api_key","attributes":{`+attributes+`}}}`, http.StatusOK)
}

// expireSoon gives a key an expiry that has not passed when the node receives it.
func (n *testNode) expireSoon(t testing.TB, key madeKey) {
	t.Helper()
	for ahead := 300 * time.Millisecond; ; ahead *= 2 {
		expiry := time.Now().Add(ahead).UTC().Format(time.RFC3339Nano)
		status, text := n.send(t, http.MethodPut, "/api/v1/api_keys/"+key.id, `{"data":{"type":"api_key","attributes":{"name":"k","expires_at":"`+expiry+`"}}}`)
		switch {
		case status == http.StatusOK:
			return
		case ahead > soon/2:
			t.Fatalf("to expire %s ahead got %d: %s", ahead, status, text)
		}
	}
}

func TestKey_ExpiredClosesItsSockets(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Heartbeat: unhurried})
	p, _ := s.open("key=k&expires=" + time.Now().Add(time.Hour).UTC().Format(time.RFC3339Nano))
	s.commit(flagChange("f"))
	p.expect(event("flag_changed", "f", 1))
	s.ahead.Store(int64(time.Hour))
	p.ends(websocket.ClosePolicyViolation, soon)
}

// The feed may report a change of the key between the first check of the key and the
// reservation.
func TestKey_CheckedAgainWhileOpening(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Sockets: 1, Heartbeat: unhurried})
	if _, status := s.dial("key=k&recheck=revoked"); status != http.StatusUnauthorized {
		t.Errorf("a key that was revoked meanwhile got %d", status)
	}
	p, _ := s.open("key=k&recheck=" + time.Now().Add(time.Hour).UTC().Format(time.RFC3339Nano))
	s.ahead.Store(int64(time.Hour))
	p.ends(websocket.ClosePolicyViolation, soon)
}

func TestKey_RenamedKeepsItsSockets(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{})
	p, _ := s.open("key=k&expires=" + time.Now().Add(time.Hour).UTC().Format(time.RFC3339Nano))
	s.commit(changes.Change{Kind: accounts.KindKey, Key: "k", Action: changes.Updated, After: keyDocument(t, accounts.Active, nil)})
	s.commit(changes.Change{Kind: accounts.KindKey, Key: "another", Action: changes.Revoked, After: keyDocument(t, accounts.Revoked, nil)})
	s.commit(flagChange("f"))
	p.expect(event("flag_changed", "f", 3))
	s.commit(changes.Change{Kind: accounts.KindKey, Key: "k", Action: changes.Revoked, After: keyDocument(t, accounts.Revoked, nil)})
	p.ends(websocket.ClosePolicyViolation, soon)
}

func TestOpen_Limits(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Sockets: 3, AccountSockets: 2})
	first, _ := s.open("")
	s.open("")
	if _, status := s.dial(""); status != http.StatusTooManyRequests {
		t.Errorf("a third of one account got %d", status)
	}
	s.open("account=other")
	if _, status := s.dial("account=third"); status != http.StatusTooManyRequests {
		t.Errorf("a fourth got %d", status)
	}
	_ = first.Close()
	storetest.Wait(t, soon, "there is a place again", func() bool {
		_, status := s.dial("")
		return status == http.StatusSwitchingProtocols
	})
}

func TestOpen_AccountLimitIsHalf(t *testing.T) {
	t.Parallel()
	for sockets, mine := range map[int]int{1: 1, 4: 2, 5: 3} {
		t.Run(fmt.Sprint(sockets), func(t *testing.T) {
			s := newStage(t, stream.Options{Sockets: sockets})
			for range mine {
				s.open("")
			}
			if _, status := s.dial(""); status != http.StatusTooManyRequests {
				t.Errorf("of %d sockets one account got more than %d: %d", sockets, mine, status)
			}
			for range sockets - mine {
				s.open("account=other")
			}
		})
	}
}

// A rewound history may undo the revocation of a key while the key's sockets are being closed.
func TestRewound_KeyWorksAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{CloseTimeout: 500 * time.Millisecond})
	s.open("key=k") // the test does not read it, so it never answers the close frame
	s.commit(changes.Change{Kind: accounts.KindKey, Key: "k", Action: changes.Revoked, After: keyDocument(t, accounts.Revoked, nil)})
	s.rewind(0)
	p, _ := s.open("key=k")
	storetest.Wait(t, soon, "the ended one is gone", func() bool { return count(&s.closed, "key").Load() == 1 })
	s.commit(flagChange("f"))
	p.expect(event("flag_changed", "f", 1))
}

// Keys may be rewound too, so all of them are checked again, including the keys of sockets that
// are being opened.
func TestRewound_AllReconnect(t *testing.T) {
	t.Parallel()
	for name, each := range map[string]struct {
		reconnect time.Duration
		then      func(p *peer)
	}{
		"they are told to load everything": {time.Hour, func(p *peer) { p.expect(everything(0)...) }},
		"and leave soon":                   {100 * time.Millisecond, func(p *peer) { p.ends(websocket.CloseServiceRestart, soon) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, stream.Options{Heartbeat: unhurried, Reconnect: each.reconnect})
			open, _ := s.open("")
			s.during = func(context.Context) error {
				s.rewind(0)
				return nil
			}
			opening, _ := s.open("")
			each.then(open)
			each.then(opening)
		})
	}
}

func TestOpen_StoreFails(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Sockets: 1})
	s.mu.Lock()
	s.broken = errors.New("no database")
	s.mu.Unlock()
	for _, query := range []string{"", "since=0", "since=x"} {
		if _, status := s.dial(query); status != http.StatusBadRequest {
			t.Errorf("%q got %d", query, status)
		}
	}
	s.mu.Lock()
	s.broken = nil
	s.mu.Unlock()
	s.open("") // the places are free again
}

func TestStop_ClosesWith1012(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{})
	const sockets = 200
	var peers []*peer
	for range sockets {
		p, _ := s.open("")
		peers = append(peers, p)
	}
	stopped := make(chan time.Duration)
	go func() {
		began := time.Now()
		s.stop(10 * time.Second)
		stopped <- time.Since(began)
	}()
	storetest.Wait(t, soon, "no socket is opened any more", func() bool {
		p, status := s.dial("")
		if p != nil {
			_ = p.Close()
		}
		return status == http.StatusServiceUnavailable
	})
	var closing sync.WaitGroup
	for _, p := range peers {
		closing.Go(func() {
			p.ends(websocket.CloseServiceRestart, soon)
			_ = p.Close()
		})
	}
	closing.Wait()
	if took := <-stopped; took < 100*time.Millisecond {
		t.Errorf("all were closed at once, within %s", took)
	}
}

func TestStop_NodeClosesWith1012(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	t.Run("a node until it stops", func(node *testing.T) {
		p := newTestNode(node, storetest.New(t, "sqlite")).open(t, "")
		p.next()
		go func() {
			defer close(ended)
			p.ends(websocket.CloseServiceRestart, soon)
		}()
	})
	<-ended
}

func TestStop_PeerDoesNotAnswer(t *testing.T) {
	t.Parallel()
	atBest(t, 5*time.Second, func() time.Duration {
		s := newStage(t, stream.Options{})
		s.open("") // never reads the close frame
		began := time.Now()
		s.stop(200 * time.Millisecond)
		return time.Since(began)
	})
}

func TestSocket_TLS(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Queue: 1 << 16}, (*httptest.Server).StartTLS)
	p, _ := s.open("")
	for range 5000 { // more than the buffers hold, so that a goroutine waits for the reader
		s.commit(flagChange(strings.Repeat("x", 200)))
	}
	for seq := range int64(5000) {
		if got := p.next(); got.Seq != seq+1 {
			t.Fatalf("got %s", got.text)
		}
	}
}
