// Package webhooks measures the cost of sending a hundred events a second to a thousand webhooks: the memory of the server,
// and how much longer the writes take that cause the events.
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
	during     = 20 * time.Second
	answerSize = 2 // bytes
)

// load is a server with accounts whose webhooks a sink receives.
type load struct {
	server *servers.Server
	sink   *servers.Sink
	keys   []string
}

// Run measures on SQLite and, when a server is named, on PostgreSQL.
func Run(ctx context.Context, out io.Writer) error {
	fmt.Fprintf(out, "\n%d webhooks of %d accounts, %d events a second for %s, each told to %d\n%-9s %-10s %10s %10s %9s %10s %14s\n", accounts*ofAccount, accounts, perSecond, during, ofAccount,
		"store", "webhooks", "write p50", "write p99", "refused", "memory", "told in time")
	sink, err := servers.StartSink(ctx)
	if err != nil {
		return err
	}
	defer sink.Stop()
	for _, s := range servers.Stores() {
		for _, with := range []int{0, ofAccount} {
			if err := measure(ctx, out, s, sink, with); err != nil {
				return err
			}
		}
	}
	return nil
}

// measure measures with a number of webhooks in each account.
func measure(ctx context.Context, out io.Writer, s servers.Store, sink *servers.Sink, webhooks int) error {
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
	l := &load{sink: sink}
	if l.server, err = servers.StartSignalbox(ctx, filepath.Join(folder, "data"), database, "--allow-networks", "127.0.0.0/8", "--rate-limit", "0"); err != nil {
		return err
	}
	defer l.server.Stop()
	if err := l.prepare(ctx, filepath.Join(folder, "data"), database, webhooks); err != nil {
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
	told, err := sink.Count(ctx)
	if err != nil {
		return err
	}
	events := len(took)
	fmt.Fprintf(out, "%-9s %-10d %10s %10s %9d %8dMB %13.0f%%\n", s.Name, webhooks*accounts, took[events/2].Round(100*time.Microsecond), took[events*99/100].Round(100*time.Microsecond),
		refused, most>>20, 100*float64(told.Requests)/float64(max(1, events*webhooks)))
	return nil
}

// prepare creates the accounts and their webhooks.
func (l *load) prepare(ctx context.Context, folder, database string, webhooks int) error {
	for i := range accounts {
		key, err := servers.CreateAccount(ctx, folder, database, fmt.Sprint("account-", i))
		if err != nil {
			return err
		}
		l.keys = append(l.keys, key)
		for j := range webhooks {
			body := fmt.Sprintf(`{"data":{"type":"webhook","attributes":{"name":"w-%d","url":%q,"events":["change.flag"]}}}`, j, l.sink.URL(answerSize))
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
			body := fmt.Sprintf(`{"data":{"type":"flag","id":"f-%d","attributes":{"type":"BOOLEAN","default":false}}}`, i)
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
