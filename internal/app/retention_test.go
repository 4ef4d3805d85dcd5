package app_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

// TestRetention_FileDoesNotGrow creates and deletes flags and promoted loggers over several retention periods, 1,000 of
// each in its long form. Each period reuses the pages of SQLite's file that the period before has freed.
func TestRetention_FileDoesNotGrow(t *testing.T) {
	t.Parallel()
	const kept, most = 30 * 24 * time.Hour, 10
	periods, perPeriod := suite.Scale(3, most), suite.Scale(40, 100)
	now := time.Now()
	clock := func() time.Time { return now }
	database := storetest.New(t, "sqlite")
	db := database.Open(t, func(o *store.Options) { o.Now = clock })
	owner, raw := storetest.NewTenant(t, db, "pro").Owner, database.Raw(t)
	removeOld := app.Retention(db, slog.New(slog.DiscardHandler), kept, kept, clock)
	var pages [most]int
	for period := range periods {
		createAndDelete(t, db, owner, period, perPeriod)
		for later := now.Add(kept + time.Hour); now.Before(later); now = now.Add(40 * time.Hour) { // a longer pause than two days would slow the removal down
			removeOld(t.Context())
		}
		removeOld(t.Context())
		if err := raw.QueryRowContext(t.Context(), `PRAGMA page_count`).Scan(&pages[period]); err != nil {
			t.Fatal(err)
		}
	}
	if first, last := pages[0], pages[periods-1]; last > first*5/4 { // it may grow a little, because the keys of deleted loggers stay
		t.Errorf("the file had %d pages after the first period and has %d after the last", first, last)
	}
}

// createAndDelete creates and deletes flags with large texts, and loggers that are promoted.
func createAndDelete(t *testing.T, db *store.DB, owner accounts.Caller, period, count int) {
	t.Helper()
	made := &flags.Service{Store: db.Flags(), Plans: plans.BuiltIn(), Writable: environments.Writable}
	promoted := &logging.Service{Store: db.Logging(), Plans: plans.BuiltIn(), Writable: environments.Writable}
	text := json.RawMessage(`"` + strings.Repeat("x", 8000) + `"`)
	for i := range count {
		key := fmt.Sprintf("k.%d.%d", period, i)
		flag := flags.Draft{Key: optional.Of(key), Type: optional.Of("STRING"), Default: optional.Of(text)}
		logger := logging.Draft{LevelsDraft: logging.LevelsDraft{Base: logging.OverrideDraft{Level: optional.Of("DEBUG")}}}
		_, flagErr := made.Create(t.Context(), owner, flag)
		_, loggerErr := promoted.Replace(t.Context(), owner, key, logger, nil)
		for _, err := range []error{flagErr, made.Delete(t.Context(), owner, key, nil), loggerErr, promoted.Delete(t.Context(), owner, key, nil)} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
