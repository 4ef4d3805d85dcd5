package store_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestConfigurations_LogsWhatCannotBeDecrypted(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	var logged bytes.Buffer
	db := storetest.OpenSealed(t, database, func(o *store.Options) { o.Log = slog.New(slog.NewTextHandler(&logged, nil)) })
	account := storetest.NewTenant(t, db, "pro").Account.ID
	broken, fine := storetest.NewJob(account, "broken", "http://a/"), storetest.NewJob(account, "fine", "http://b/")
	storetest.AddJobs(t, db, broken, fine)
	if _, err := database.Raw(t).ExecContext(t.Context(), `UPDATE job_requests SET sealed = $1 WHERE id = $2`, []byte("swordfish"), broken.RequestID); err != nil {
		t.Fatal(err)
	}
	var found map[string]jobs.Configuration
	if err := db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) (err error) {
		found, err = tx.Configurations(ctx, []string{broken.RequestID, fine.RequestID})
		return err
	}); err != nil || len(found) != 1 {
		t.Fatalf("%d configurations, %v", len(found), err)
	}
	text := logged.String()
	if strings.Count(text, "\n") != 1 || !strings.Contains(text, "configuration="+broken.RequestID) || strings.Contains(text, "swordfish") {
		t.Errorf("logged %s", text)
	}
}
