package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/store/storetest"
)

// The tests of faults rely on the proxy.
func TestProxy_SlowAndOneWay(t *testing.T) {
	t.Parallel()
	database, network := storetest.NewEmpty(t, "postgres").ThroughProxy(t)
	db := database.Raw(t)
	ask := func(within time.Duration) (time.Duration, error) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		_, err := db.ExecContext(ctx, "SELECT 1")
		return time.Since(began), err
	}
	if _, err := ask(soon); err != nil {
		t.Fatal(err)
	}
	const delay = 20 * time.Millisecond
	network.Slow(delay)
	if took, err := ask(soon); err != nil || took < 2*delay {
		t.Errorf("a slow network took %s, %v", took, err)
	}
	for _, way := range []storetest.Way{storetest.ToServer, storetest.ToClient} {
		network.SilenceWay(way)
		if took, err := ask(100 * time.Millisecond); err == nil {
			t.Errorf("way %d: an answer arrived after %s", way, took)
		}
		network.Up()
		if _, err := ask(soon); err != nil {
			t.Error(err)
		}
	}
}
