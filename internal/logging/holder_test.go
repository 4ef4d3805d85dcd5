package logging_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// counted counts the recorded changes and the calls that recorded them.
type counted struct {
	logging.Tx
	calls int
}

func (c *counted) RecordChanges(ctx context.Context, account string, made ...changes.Change) error {
	c.calls++
	return c.Tx.RecordChanges(ctx, account, made...)
}

func TestStripOverrides_ManyLoggers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		const many = 3000
		loggers, keys := make([]logging.Logger, many), make([]string, many)
		for i := range loggers {
			keys[i] = fmt.Sprintf("l%04d", i)
			loggers[i] = logging.Logger{Account: h.owner.Account, Key: keys[i], Name: keys[i], Managed: true,
				Levels: logging.Levels{Environments: map[string]logging.Override{"qa": {Level: loglevel.Debug}}}}
			if i%2 == 0 {
				loggers[i].Level = loglevel.Warn
			}
		}
		h.write(t, func(ctx context.Context, tx *store.Tx) error { return tx.SaveLoggers(ctx, loggers) })
		h.write(t, func(ctx context.Context, tx *store.Tx) error {
			counting := &counted{Tx: tx}
			err := logging.StripOverrides(ctx, counting, h.owner, "qa")
			if counting.calls > many/100 {
				t.Errorf("%d loggers were recorded with %d calls", many, counting.calls)
			}
			return err
		})
		made := h.history(t, logging.Kind)
		same(t, len(made), many+1)
		for i, key := range keys {
			if made[i].Key != key || made[i].Action != changes.Cascaded || made[i].Seq != made[0].Seq+int64(i) {
				t.Fatalf("got %+v in the place of %s", made[i], key)
			}
		}
		var several changes.Several
		if err := json.Unmarshal(made[many].After, &several); err != nil {
			t.Fatal(err)
		}
		same(t, several, changes.Several{Keys: keys, Cause: "environment:qa"})
		same(t, h.count(t, func(ctx context.Context, tx *store.ReadTx) (int, error) {
			return logging.CountOverrides(ctx, tx, h.owner.Account, "qa")
		}), 0)
		same(t, h.managed(t), many/2) // a logger with nothing set is released
	})
}
