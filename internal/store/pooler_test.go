package store_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// TestPooler_TransactionMode: transactions of one node run on other connections each time, and nothing is prepared twice.
func TestPooler_TransactionMode(t *testing.T) {
	t.Parallel()
	direct := storetest.New(t, "postgres")
	if direct.Open(t).Pooled() {
		t.Error("a direct connection is taken for a pooler's")
	}
	db := direct.ThroughPooler(t).Open(t)
	if !db.Pooled() {
		t.Error("the pooler was not noticed")
	}
	var writers sync.WaitGroup
	for range 6 {
		account := storetest.NewTenant(t, db, "pro").Account.ID
		writers.Go(func() {
			for i := range 30 {
				if err := db.Write(t.Context(), account, insert(account, fmt.Sprint("flag-", i))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
}

func TestOpen_QueryModes(t *testing.T) {
	t.Parallel()
	direct := storetest.New(t, "postgres")
	for mode, works := range map[string]bool{
		"exec": false, "simple_protocol": false, "cache_describe": true, "cache_statement": true, "describe_exec": true,
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			separator := "?"
			if strings.Contains(direct.URL, "?") {
				separator = "&"
			}
			db, err := store.Open(t.Context(), store.Options{Database: direct.URL + separator + "default_query_exec_mode=" + mode})
			if err == nil {
				defer func() { _ = db.Close() }()
			}
			if (err == nil) != works || err != nil && !strings.Contains(err.Error(), "default_query_exec_mode=cache_describe") {
				t.Errorf("got %v", err)
			}
		})
	}
}
