package flags_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// sized returns the draft of a STRING flag whose default has a given size in bytes.
func sized(key string, bytes int) flags.Draft {
	base := `"` + strings.Repeat("x", bytes-2) + `"`
	return flags.Draft{Key: optional.Of(key), Type: optional.Of("STRING"), Default: optional.Of(json.RawMessage(base))}
}

// TestCreate_TotalSizeOfLargeFlags: the total size of large flags is bounded. Small flags are not
// counted, and a write that makes a flag smaller is never refused.
func TestCreate_TotalSizeOfLargeFlags(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		h.create(t, sized("grows", 100))
		h.create(t, sized("huge", 60<<10))
		// The total says that there are many more.
		if _, err := database.Raw(t).ExecContext(t.Context(), `UPDATE account_totals SET amount = $1 WHERE account_id = $2 AND what = 'large flag bytes'`,
			flags.MaxLargeBytes-30<<10, h.owner.Account); err != nil {
			t.Fatal(err)
		}
		h.create(t, sized("fits", 20<<10))
		refused := func(err error) {
			t.Helper()
			if refusals := fault.All(err); len(refusals) != 1 || refusals[0].Code != fault.RowLimitReached || refusals[0].Meta["limit_key"] != "flags.large_flag_bytes" {
				t.Errorf("got %v", err)
			}
		}
		_, err := h.Create(t.Context(), h.owner, sized("refused", 20<<10))
		refused(err)
		_, err = h.Replace(t.Context(), h.owner, "grows", sized("", 20<<10), nil)
		refused(err)
		same(t, len(h.get(t, "grows").Default), 100)
		h.create(t, sized("small", 8<<10))
		h.replace(t, "fits", sized("", 19<<10))
		h.report(t, declared("found", "STRING", `"`+strings.Repeat("x", 8000)+`"`, "a", "e"))
		h.replace(t, "huge", sized("", 20<<10))
		h.create(t, sized("refused", 20<<10))
	})
}
