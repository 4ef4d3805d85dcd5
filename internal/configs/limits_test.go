package configs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/configs"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// bytes returns the total size of the account's configs.
func (h *fixture) bytes(t testing.TB) (count int) {
	t.Helper()
	err := h.db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) (err error) {
		count, err = tx.ConfigBytes(ctx, h.owner.Account)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return count
}

func TestConfigBytes_FollowWrites(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		newEnvironment(t, h, "qa")
		same(t, h.bytes(t), 0)
		small := draft("a", "", values{"x": "1"})
		h.create(t, small)
		one := h.bytes(t)
		h.create(t, draft("b", "", values{"x": "1"}))
		same(t, h.bytes(t), 2*one)

		h.replace(t, in(draft("a", "", values{"x": `"` + strings.Repeat("x", 1000) + `"`}), "qa", values{"x": `"y"`}))
		large := h.bytes(t)
		if large < 2*one+1000 {
			t.Errorf("got %d bytes after %d", large, one)
		}
		h.write(t, func(ctx context.Context, tx *store.Tx) error { return configs.StripValues(ctx, tx, h.owner, "qa") })
		same(t, h.bytes(t), large-len(`"qa":{"x":"y"}`))
		refused := draft("a", "", values{"x": "1"})
		refused.Parent = optional.Of("nobody")
		if _, err := h.Replace(t.Context(), h.owner, "a", refused, nil); err == nil {
			t.Error("the parent is accepted")
		}
		same(t, h.bytes(t), large-len(`"qa":{"x":"y"}`))

		h.replace(t, small)
		same(t, h.bytes(t), 2*one)
		for _, key := range []string{"a", "b"} {
			if err := h.Delete(t.Context(), h.owner, key, nil); err != nil {
				t.Fatal(err)
			}
		}
		same(t, h.bytes(t), 0)
	})
}

// almostFull is a store that reports more bytes of configs than it has. Writing 16 MiB would
// take seconds.
type almostFull struct {
	configs.Store
	more int
}

func (s almostFull) Write(ctx context.Context, account string, fn func(context.Context, configs.Tx) error) error {
	return s.Store.Write(ctx, account, func(ctx context.Context, tx configs.Tx) error { return fn(ctx, almostFullTx{tx, s.more}) })
}

type almostFullTx struct {
	configs.Tx
	more int
}

func (tx almostFullTx) ConfigBytes(ctx context.Context, account string) (int, error) {
	count, err := tx.Tx.ConfigBytes(ctx, account)
	return count + tx.more, err
}

func TestCreate_AccountBytesLimit(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "pro")
	large := func(key string) configs.Draft {
		return draft(key, "", values{"x": `"` + strings.Repeat("x", 10_000) + `"`})
	}
	h.create(t, large("first"))
	before := h.bytes(t)
	h.Store = almostFull{h.Store, configs.MaxBytes - before - 5000}
	_, err := h.Create(t.Context(), h.owner, large("one-more"))
	if !fault.Is(err, fault.RowLimitReached) {
		t.Fatalf("got %v", err)
	}
	same(t, fault.All(err)[0].Meta, map[string]any{"limit_key": "config.config_bytes", "maximum": configs.MaxBytes})
	same(t, h.bytes(t), before)
	h.create(t, draft("small", "", nil))
	_, err = h.Replace(t.Context(), h.owner, "small", large("small"), nil)
	if !fault.Is(err, fault.RowLimitReached) {
		t.Errorf("got %v", err)
	}
	if err := h.Delete(t.Context(), h.owner, "first", nil); err != nil {
		t.Fatal(err)
	}
	h.replace(t, large("small"))
	same(t, h.bytes(t), before)

	h.Store = almostFull{h.Store, configs.MaxBytes} // in a full account, configs may still become smaller
	h.replace(t, draft("small", "", nil))
}

// A request of a few hundred kilobytes has a schema that checks one long text very often.
func TestCreate_LongTextUnderManyParts(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "pro")
	schema := `{"allOf":[` + strings.Repeat(`{"minLength":1},`, 600) + `true]}`
	made := fitting(draft("hostile", "", values{"k": `"` + strings.Repeat("é", 125<<10) + `"`}), "k", schema)
	made.Items["k"] = configs.ItemDraft{Value: made.Items["k"].Value, Schema: made.Items["k"].Schema, Type: optional.Of("JSON")}
	began := time.Now()
	_, err := h.Create(t.Context(), h.owner, made)
	t.Logf("it took %s", time.Since(began))
	requireRefused(t, err, values{"items/k/value": "work"})
	same(t, h.count(t), 0)
}

// Every descendant must merge and decode large values.
func TestReplace_ManyLargeMergesBelow(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "pro")
	root := func(first string) configs.Draft {
		made := draft("root", "", nil)
		for i := range 3 {
			key := fmt.Sprint("k", i)
			made.Items[key] = configs.ItemDraft{Value: json.RawMessage(`{"a":"` + first + strings.Repeat("x", 255<<10) + `"}`),
				Schema: optional.Of(json.RawMessage(`{"type":"object"}`))}
		}
		return made
	}
	h.create(t, root("a"))
	kids := make([]configs.Config, 9)
	for i := range kids {
		nothing := configs.Item{Type: configs.JSON, Value: json.RawMessage("{}")}
		kids[i] = configs.Config{Account: h.owner.Account, Key: fmt.Sprint("kid-", i), Name: "kid", Parent: new("root"),
			Items: map[string]configs.Item{"k0": nothing, "k1": nothing, "k2": nothing}}
	}
	h.write(t, func(ctx context.Context, tx *store.Tx) error { return tx.SaveConfigs(ctx, kids...) })
	began := time.Now()
	_, err := h.Replace(t.Context(), h.owner, "root", root("b"), nil)
	t.Logf("it took %s", time.Since(began))
	for place, detail := range refusals(t, err) {
		if !strings.HasPrefix(place, "items/k") || !strings.Contains(detail, "kid-") || !strings.Contains(detail, "work") {
			t.Errorf("%s: %s", place, detail)
		}
	}
	same(t, string(h.get(t, "root").Items["k0"].Value[:7]), `{"a":"a`)
}
