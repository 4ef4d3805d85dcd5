package connections_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/connections"
)

// seen returns the programs that count as connected, with their last sequence numbers.
func seen(p *connections.Pollers, now time.Time) map[string]int64 {
	found := map[string]int64{}
	p.EachConnection(now, func(connection *connections.Connection, seq int64) {
		found[*connection.Service+" "+connection.Client] = seq
	})
	return found
}

func polling(service string) connections.Peer {
	return connections.Peer{Service: &service, Environment: new("production"), Client: "Java/17"}
}

func TestPollers_ComeAndGo(t *testing.T) {
	t.Parallel()
	var p connections.Pollers
	now := time.Now()
	if !p.Seen("a", polling("shop"), 3, now) || p.Seen("a", polling("shop"), 5, now.Add(time.Minute)) || !p.Seen("b", polling("shop"), 1, now) {
		t.Error("a poller is new at its first poll only, in its account")
	}
	if got := seen(&p, now.Add(2*time.Minute+time.Second)); len(got) != 1 || got["shop Java/17"] != 5 {
		t.Errorf("got %v", got)
	}
	if got := seen(&p, now.Add(4*time.Minute)); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	if !p.Seen("a", polling("shop"), 1, now) {
		t.Error("a poller that came back is not new")
	}
	p.Forget("a", polling("shop"))
	if !p.Seen("a", polling("shop"), 1, now) {
		t.Error("a forgotten poller is not new")
	}
}

// A caller may invent names of services. They take no room from other accounts.
func TestPollers_Bounded(t *testing.T) {
	t.Parallel()
	var p connections.Pollers
	now, shown := time.Now(), 0
	for i := range 1500 {
		if p.Seen("a", polling(strconv.Itoa(i)), 1, now) {
			shown++
		}
	}
	if shown != 1000 {
		t.Errorf("%d of an account are shown", shown)
	}
	if !p.Seen("b", polling("shop"), 1, now) {
		t.Error("another account has no room")
	}
}
