package observations

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
)

// contextNews holds the new and changed items of a context report.
type contextNews struct {
	environments []string
	services     []ReportingService
	types        []changes.Edit[ContextType]
	contexts     []Context
	dropped      int // items past the caps
}

func (n *contextNews) any() bool {
	return len(n.environments)+len(n.services)+len(n.types)+len(n.contexts) > 0
}

// compare compares the report with the stored rows.
func (r *contextReport) compare(ctx context.Context, tx ReadTx) (*contextNews, error) {
	found := &contextNews{}
	for _, compare := range []func(context.Context, ReadTx, *contextNews) error{r.compareEnvironments, r.compareServices, r.compareContexts} {
		if err := compare(ctx, tx, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (r *contextReport) compareEnvironments(ctx context.Context, tx ReadTx, found *contextNews) error {
	if len(r.environments) == 0 {
		return nil
	}
	known, err := tx.ManagedEnvironments(ctx, r.account)
	found.environments, found.dropped = r.discoverable(known, r.environments)
	return err
}

func (r *contextReport) compareServices(ctx context.Context, tx ReadTx, found *contextNews) error {
	existing, err := tx.ExistingServices(ctx, r.account, r.services)
	if err != nil {
		return err
	}
	created, dropped, err := upTo(ctx, maxServices, unknown(r.services, setOf(existing)), tx.CountServices, r.account)
	for _, key := range created {
		found.services = append(found.services, ReportingService{Account: r.account, Key: key, Name: key, CreatedAt: tx.Now(), UpdatedAt: tx.Now()})
	}
	found.dropped += len(dropped)
	return err
}

// compareContexts finds new contexts, contexts with changed attributes, new types, and
// types with additional attributes. It drops contexts whose type is past the cap.
func (r *contextReport) compareContexts(ctx context.Context, tx ReadTx, found *contextNews) error {
	types := typesOf(r.contexts)
	stored, err := tx.ContextTypesByKey(ctx, r.account, types)
	if err != nil {
		return err
	}
	known := map[string]*ContextType{}
	for i := range stored {
		known[stored[i].Key] = &stored[i]
	}
	_, refused, err := upTo(ctx, maxContextTypes, unknown(types, known), tx.CountContextTypes, r.account)
	if err != nil {
		return err
	}
	kept, err := r.keepContexts(ctx, tx, setOf(refused), found)
	if err != nil {
		return err
	}
	return r.learnTypes(known, kept, tx.Now(), found)
}

// keepContexts adds new and changed contexts to found, and returns them together with
// the unchanged ones. New contexts past the cap are dropped.
func (r *contextReport) keepContexts(ctx context.Context, tx ReadTx, refused map[string]bool, found *contextNews) ([]Context, error) {
	contexts := slices.DeleteFunc(slices.Clone(r.contexts), func(each Context) bool { return refused[each.Type] })
	stored, err := tx.KnownContexts(ctx, r.account, contexts)
	if err != nil {
		return nil, err
	}
	var fresh, kept []Context
	for _, each := range contexts {
		each.CreatedAt, each.UpdatedAt = tx.Now(), tx.Now()
		same, exists := stored[each.ID()]
		if !exists {
			fresh = append(fresh, each)
			continue
		}
		if !same {
			found.contexts = append(found.contexts, each)
		}
		kept = append(kept, each)
	}
	fresh, _, err = upTo(ctx, maxContexts, fresh, tx.CountContexts, r.account)
	found.contexts, kept = append(found.contexts, fresh...), append(kept, fresh...)
	found.dropped += len(r.contexts) - len(kept)
	return kept, err
}

// learnTypes creates new types of contexts, and adds attribute names to the other
// types.
func (r *contextReport) learnTypes(known map[string]*ContextType, contexts []Context, now time.Time, found *contextNews) error {
	names := map[string]map[string]bool{}
	for _, each := range contexts {
		if names[each.Type] == nil {
			names[each.Type] = map[string]bool{}
		}
		for _, name := range r.attributes[each.ID()] {
			names[each.Type][name] = true
		}
	}
	for _, key := range typesOf(contexts) {
		before, after := known[key], ContextType{Account: r.account, Key: key, Name: key, Attributes: json.RawMessage(`{}`), CreatedAt: now}
		if before != nil {
			after = *before
		}
		attributes, grown, err := learn(after.Attributes, slices.Sorted(maps.Keys(names[key])))
		if err != nil {
			return err
		}
		if after.Attributes, after.UpdatedAt = attributes, now; grown || before == nil {
			found.types = append(found.types, changes.Edit[ContextType]{Key: key, Before: before, After: &after})
		}
	}
	return nil
}

// write stores the news and records changes. Contexts have no history, so no change of
// a context is recorded.
func (n *contextNews) write(ctx context.Context, tx Tx, caller accounts.Caller) error {
	if err := tx.CreateEnvironments(ctx, caller, n.environments); err != nil {
		return err
	}
	if err := tx.InsertServices(ctx, n.services...); err != nil {
		return err
	}
	edits := make([]changes.Edit[ReportingService], len(n.services))
	for i := range n.services {
		edits[i] = changes.Edit[ReportingService]{Key: n.services[i].Key, After: &n.services[i]}
	}
	if err := changes.RecordEach(ctx, tx, caller.Account, caller.Actor(), "", KindService, edits); err != nil {
		return err
	}
	types := make([]ContextType, len(n.types))
	for i, edit := range n.types {
		types[i] = *edit.After
	}
	if err := tx.SaveContextTypes(ctx, types...); err != nil {
		return err
	}
	if err := changes.RecordEach(ctx, tx, caller.Account, caller.Actor(), "", KindContextType, n.types); err != nil {
		return err
	}
	return tx.UpsertContexts(ctx, n.contexts)
}

// upTo splits fresh rows into rows that fit under the maximum of an account and rows to
// drop. Without fresh rows it does not count the stored rows.
func upTo[T any](ctx context.Context, maximum int, fresh []T, count func(context.Context, string) (int, error), account string) (created, dropped []T, err error) {
	if len(fresh) == 0 {
		return nil, nil, nil
	}
	stored, err := count(ctx, account)
	fits := min(len(fresh), max(0, maximum-stored))
	return fresh[:fits], fresh[fits:], err
}

// unknown returns the keys that are not known.
func unknown[T any](keys []string, known map[string]T) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { _, is := known[key]; return is })
}

func setOf(keys []string) map[string]bool {
	set := make(map[string]bool, len(keys))
	for _, key := range keys {
		set[key] = true
	}
	return set
}

// typesOf returns the types of contexts, each once.
func typesOf(contexts []Context) []string {
	return distinct(contexts, func(each Context) string { return each.Type })
}

// learn adds new attribute names to known, up to maxKnownNames. Each name gets an empty
// object that people may fill in.
func learn(known json.RawMessage, names []string) (json.RawMessage, bool, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(known, &members); err != nil {
		return nil, false, err
	}
	grown := false
	for _, name := range names {
		if _, ok := members[name]; !ok && len(members) < maxKnownNames && brokenRule(name, maxName) == "" {
			members[name], grown = json.RawMessage(`{}`), true
		}
	}
	if !grown {
		return known, false, nil
	}
	text, err := json.Marshal(members)
	return text, true, err
}
