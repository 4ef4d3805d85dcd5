package logging_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// widely returns overrides for count environments with long names. The overrides for a hundred
// environments take more than 8 KiB.
func widely(count int) logging.LevelsDraft {
	draft := logging.LevelsDraft{Environments: map[string]logging.OverrideDraft{}}
	for i := range count {
		draft.Environments[wideName(i)] = logging.OverrideDraft{Level: optional.Of("INFO")}
	}
	return draft
}

func wideName(i int) string { return fmt.Sprintf("%080d", i) }

// TestReplace_TotalSizeOfLargeOverrides: the total size of large overrides is limited. Small
// overrides do not count, and a write that makes them smaller is never refused.
func TestReplace_TotalSizeOfLargeOverrides(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		h.write(t, func(ctx context.Context, tx *store.Tx) error {
			for i := range 120 {
				if err := tx.InsertEnvironments(ctx, environments.Environment{Account: h.owner.Account, Key: wideName(i), Name: "wide", Managed: true}); err != nil {
					return err
				}
			}
			return nil
		})
		// Pretend that large overrides exist, so that two of nine thousand bytes no longer fit.
		if _, err := database.Raw(t).ExecContext(t.Context(), `INSERT INTO account_totals (account_id, what, amount) VALUES ($1, 'large override bytes', $2)`,
			h.owner.Account, logging.MaxOverrideBytes-15<<10); err != nil {
			t.Fatal(err)
		}
		refused := func(err error) {
			t.Helper()
			if refusals := fault.All(err); len(refusals) != 1 || refusals[0].Code != fault.RowLimitReached || refusals[0].Meta["limit_key"] != "logging.override_bytes" {
				t.Errorf("got %v", err)
			}
		}
		h.replace(t, "fits", logging.Draft{LevelsDraft: widely(90)})
		h.replace(t, "fits", logging.Draft{LevelsDraft: widely(95)})
		_, err := h.Replace(t.Context(), h.owner, "refused", logging.Draft{LevelsDraft: widely(90)}, nil)
		refused(err)
		_, err = h.CreateGroup(t.Context(), h.owner, logging.GroupDraft{Key: optional.Of("group"), LevelsDraft: widely(90)})
		refused(err)
		h.replace(t, "small", logging.Draft{LevelsDraft: widely(50)})
		_, err = h.Replace(t.Context(), h.owner, "small", logging.Draft{LevelsDraft: widely(90)}, nil)
		refused(err)
		same(t, len(h.get(t, "small").Environments), 50)
		h.replace(t, "fits", logging.Draft{LevelsDraft: widely(85)})
		if err := h.Delete(t.Context(), h.owner, "fits", nil); err != nil {
			t.Fatal(err)
		}
		h.replace(t, "small", logging.Draft{LevelsDraft: widely(90)})
	})
}
