package flags_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// counted counts the calls of a transaction.
type counted struct {
	flags.Tx
	calls int
}

func (c *counted) SaveFlag(ctx context.Context, flag flags.Flag, references []flags.Reference) error {
	c.calls++
	return c.Tx.SaveFlag(ctx, flag, references)
}

func (c *counted) SaveFlags(ctx context.Context, saved []flags.Flag) error {
	c.calls++
	return c.Tx.SaveFlags(ctx, saved)
}

func (c *counted) SetFlagReferences(ctx context.Context, account string, references map[string][]flags.Reference) error {
	c.calls++
	return c.Tx.SetFlagReferences(ctx, account, references)
}

func (c *counted) RecordChanges(ctx context.Context, account string, made ...changes.Change) error {
	c.calls++
	return c.Tx.RecordChanges(ctx, account, made...)
}

// about returns a configuration whose one rule looks at a context type.
func about(contextType string) flags.Environment {
	return flags.Environment{Enabled: true, Rules: []flags.Rule{
		{Logic: json.RawMessage(`{"==":[{"var":"` + contextType + `.plan"},"pro"]}`), Value: json.RawMessage("1")}}}
}

// holding makes flags, as many of each shape, that hold something for qa.
func (h *fixture) holding(t *testing.T, each int) (made []flags.Flag) {
	t.Helper()
	for shape, environments := range map[string]map[string]flags.Environment{
		"alone":  {"qa": about("user")},
		"both":   {"qa": about("user"), "production": about("device")},
		"same":   {"qa": about("user"), "production": about("user")},
		"plain":  {"qa": {Enabled: true, Default: json.RawMessage("2"), Rules: []flags.Rule{}}, "production": about("user")},
		"others": {"production": about("user")},
	} {
		for i := range each {
			key := fmt.Sprintf("%s-%04d", shape, i)
			made = append(made, flags.Flag{Account: h.owner.Account, Key: key, Name: key, Type: flageval.Numeric, Default: json.RawMessage("0"),
				Managed: true, Environments: environments, CreatedAt: time.UnixMicro(1).UTC(), UpdatedAt: time.UnixMicro(2).UTC()})
		}
	}
	slices.SortFunc(made, func(a, b flags.Flag) int { return slices.Compare([]byte(a.Key), []byte(b.Key)) })
	references := map[string][]flags.Reference{}
	for _, flag := range made {
		for _, contextType := range []string{"user", "device"} {
			references[flag.Key] = append(references[flag.Key], flags.Reference{ContextType: contextType})
		}
	}
	h.write(t, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.SaveFlags(ctx, made); err != nil {
			return err
		}
		return tx.SetFlagReferences(ctx, h.owner.Account, references)
	})
	return made
}

func (h *fixture) referring(t *testing.T, contextType string) (count int) {
	t.Helper()
	list, err := h.Flags(t.Context(), h.owner, flags.Filter{References: []flags.Reference{{ContextType: contextType}}},
		page.Request{Number: 1, Size: 1, Total: true})
	if err != nil {
		t.Fatal(err)
	}
	return list.Total
}

func TestStripValues_ManyFlags(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		const each = 700
		made := h.holding(t, each)
		before := len(h.history(t))
		h.write(t, func(ctx context.Context, tx *store.Tx) error {
			counting := &counted{Tx: tx}
			err := flags.StripValues(ctx, counting, h.owner, "qa")
			if counting.calls > len(made)/50 {
				t.Errorf("%d flags were written with %d calls", len(made), counting.calls)
			}
			return err
		})
		after := h.all(t)
		var touched []string
		for _, flag := range made {
			if _, has := flag.Environments["qa"]; has {
				touched = append(touched, flag.Key)
				flag.UpdatedAt = after[touched[0]].UpdatedAt // of the transaction
				flag.Environments = maps.Clone(flag.Environments)
				delete(flag.Environments, "qa")
			}
			if !reflect.DeepEqual(after[flag.Key], flag) {
				same(t, after[flag.Key], flag)
				break
			}
		}
		same(t, len(touched), 4*each)
		// "alone" refers to nothing any more, "plain" and "others" were not looked at.
		same(t, h.referring(t, "user"), 3*each)
		same(t, h.referring(t, "device"), 3*each)
		h.told(t, before, touched)
	})
}

func (h *fixture) all(t *testing.T) map[string]flags.Flag {
	t.Helper()
	byKey := map[string]flags.Flag{}
	h.read(t, func(ctx context.Context, tx *store.ReadTx) error {
		found, err := tx.FlagsByKey(ctx, h.owner.Account, nil)
		for _, flag := range found {
			byKey[flag.Key] = flag
		}
		return err
	})
	return byKey
}

// told checks the history of a deletion: a change for every flag, then one for all together.
func (h *fixture) told(t *testing.T, before int, touched []string) {
	t.Helper()
	made := h.history(t)[before:]
	var keys []string
	for i, change := range made {
		keys = append(keys, change.Key)
		if change.Action != changes.Cascaded || change.Seq != made[0].Seq+int64(i) {
			t.Fatalf("got %+v", change)
		}
	}
	same(t, keys, append(slices.Clone(touched), changes.AllKeys))
	var first struct{ Environments map[string]any }
	for document, want := range map[string]bool{string(made[0].Before): true, string(made[0].After): false} {
		if err := json.Unmarshal([]byte(document), &first); err != nil {
			t.Fatal(err)
		}
		_, has := first.Environments["qa"]
		same(t, has, want)
		first.Environments = nil
	}
	var several changes.Several
	if err := json.Unmarshal(made[len(made)-1].After, &several); err != nil {
		t.Fatal(err)
	}
	same(t, several, changes.Several{Keys: touched, Cause: "environment:qa"})
}
