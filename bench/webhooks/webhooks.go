// Package webhooks measures the cost of sending a hundred events a second to a thousand webhooks: the memory of the
// server, and how much longer the writes that cause the events take.
package webhooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/bench/servers"
)

const (
	accounts   = 20
	ofAccount  = 50 // webhooks of each account, as many as it may have
	perSecond  = 100
	during     = 10 * time.Second
	answerSize = 2 // bytes
)

// scenario describes the webhooks of each account.
type scenario struct {
	name     string
	webhooks int  // of each account
	notified int  // webhooks that receive each event
	hanging  bool // their target never answers
}

func scenarios() []scenario {
	return []scenario{
		{name: "no webhooks"},
		{name: "1,000, each event to 1", webhooks: ofAccount, notified: 1},
		{name: "1,000, each event to 50", webhooks: ofAccount, notified: ofAccount},
		{name: "1,000, to 50 that hang", webhooks: ofAccount, notified: ofAccount, hanging: true},
	}
}

// load is a server with accounts whose webhooks a sink receives.
type load struct {
	scenario

	server *servers.Server
	sink   *servers.Sink
	keys   []string
}

// Run measures on SQLite and, when a server is named, on PostgreSQL.
func Run(ctx context.Context, out io.Writer) error {
	fmt.Fprintf(out, "\n%d webhooks of %d accounts, %d events a second for %s\n%-9s %-24s %10s %10s %9s %9s %14s %14s\n", accounts*ofAccount, accounts, perSecond, during,
		"store", "webhooks", "write p50", "write p99", "refused", "memory", "deliveries /s", "told in time")
	sink, err := servers.StartSink(ctx)
	if err != nil {
		return err
	}
	defer sink.Stop()
	for _, s := range servers.Stores() {
		for _, each := range scenarios() {
			if err := measure(ctx, out, s, &load{scenario: each, sink: sink}); err != nil {
				return err
			}
		}
	}
	return nil
}

// measure measures one scenario on a server of its own.
func measure(ctx context.Context, out io.Writer, s servers.Store, l *load) error {
	folder, err := os.MkdirTemp("", "signalbox-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	database, drop, err := s.NewDatabase(ctx)
	if err != nil {
		return err
	}
	defer drop()
	if l.server, err = servers.StartSignalbox(ctx, filepath.Join(folder, "data"), database, "--allow-networks", "127.0.0.0/8", "--rate-limit", "0"); err != nil {
		return err
	}
	defer l.server.Stop()
	if err := l.prepare(ctx, filepath.Join(folder, "data"), database); err != nil {
		return err
	}
	took, refused, most, err := l.write(ctx)
	if err == nil && len(took) == 0 {
		err = errors.New("every write was refused")
	}
	if err != nil {
		return err
	}
	slices.Sort(took)
	received, err := l.sink.Count(ctx)
	if err != nil {
		return err
	}
	events := len(took)
	fmt.Fprintf(out, "%-9s %-24s %10s %10s %9d %7dMB %14.0f %13.0f%%\n", s.Name, l.name, took[events/2].Round(100*time.Microsecond), took[events*99/100].Round(100*time.Microsecond),
		refused, most>>20, float64(received.Requests)/during.Seconds(), 100*float64(received.Requests)/float64(max(1, events*l.notified)))
	return nil
}

// prepare creates the accounts and their webhooks.
func (l *load) prepare(ctx context.Context, folder, database string) error {
	target := l.sink.URL(answerSize)
	if l.hanging {
		target = l.sink.HangingURL()
	}
	for i := range accounts {
		key, err := servers.CreateAccount(ctx, folder, database, fmt.Sprint("account-", i))
		if err != nil {
			return err
		}
		l.keys = append(l.keys, key)
		for j := range l.webhooks {
			ids := "*"
			if l.notified == 1 {
				ids = fmt.Sprintf("f-%d-*", j)
			}
			body := fmt.Sprintf(`{"data":{"type":"webhook","attributes":{"name":"w-%d","url":%q,"events":["change.flag"],"filter":{"ids":[%q]}}}}`, j, target, ids)
			if _, err := servers.FetchAs(ctx, key, http.MethodPost, l.server.Address, "/api/v1/webhooks", []byte(body)); err != nil {
				return err
			}
		}
	}
	return l.sink.Reset(ctx)
}

// write creates flags at a steady rate, and returns how long each took, how many were refused, and the most memory that the
// server used.
func (l *load) write(ctx context.Context) (took []time.Duration, refused int, most int64, err error) {
	var mu sync.Mutex
	var writing sync.WaitGroup
	tick := time.NewTicker(time.Second / perSecond)
	defer tick.Stop()
	for i := range int(during.Seconds()) * perSecond {
		<-tick.C
		writing.Go(func() {
			began := time.Now()
			body := fmt.Sprintf(`{"data":{"type":"flag","id":"f-%d-%d","attributes":{"type":"BOOLEAN","default":false}}}`, i/accounts%ofAccount, i)
			_, failed := servers.FetchAs(ctx, l.keys[i%accounts], http.MethodPost, l.server.Address, "/api/v1/flags", []byte(body))
			mu.Lock()
			defer mu.Unlock()
			if failed != nil {
				refused++
			} else {
				took = append(took, time.Since(began))
			}
		})
		if i%perSecond == 0 {
			used, failed := l.server.Resident()
			if failed != nil {
				return nil, 0, 0, failed
			}
			most = max(most, used)
		}
	}
	writing.Wait()
	return took, refused, most, nil
}
