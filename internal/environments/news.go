package environments

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/page"
)

// news is what a report says that is not stored.
type news struct {
	environments []Environment
	services     []ReportingService
	types        []changes.Edit[ContextType]
	contexts     []Context
	dropped      int // items that the account has no room for
}

func (n *news) any() bool {
	return len(n.environments)+len(n.services)+len(n.types)+len(n.contexts) > 0
}

// news compares the report with what is stored.
func (r *report) news(ctx context.Context, tx ReadTx) (*news, error) {
	found := &news{}
	for _, compare := range []func(context.Context, ReadTx, *news) error{r.newEnvironments, r.newServices, r.newContexts} {
		if err := compare(ctx, tx, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (r *report) newEnvironments(ctx context.Context, tx ReadTx, found *news) error {
	if len(r.environments) == 0 {
		return nil
	}
	managed, err := tx.ManagedEnvironments(ctx, r.account)
	if err != nil {
		return err
	}
	fresh := unknown(r.environments, managed)
	kept, err := withRoom(fresh, maxReportedEnvironments, func() (int, error) { return len(managed), nil })
	for _, key := range kept {
		found.environments = append(found.environments, Environment{Account: r.account, Key: key, Name: key, Classification: AdHoc,
			CreatedAt: tx.Now(), UpdatedAt: tx.Now()})
	}
	found.dropped += len(fresh) - len(kept)
	return err
}

func (r *report) newServices(ctx context.Context, tx ReadTx, found *news) error {
	existing, err := tx.ExistingServices(ctx, r.account, r.services)
	if err != nil {
		return err
	}
	fresh := unknown(r.services, setOf(existing))
	kept, err := withRoom(fresh, maxServices, countOf(ctx, tx.Services, r.account))
	for _, key := range kept {
		found.services = append(found.services, ReportingService{Account: r.account, Key: key, Name: key, CreatedAt: tx.Now(), UpdatedAt: tx.Now()})
	}
	found.dropped += len(fresh) - len(kept)
	return err
}

// newContexts finds the contexts that are new or have other attributes, and
// what that means for their types. A type that there is no room for takes its
// contexts with it.
func (r *report) newContexts(ctx context.Context, tx ReadTx, found *news) error {
	types, err := tx.ContextTypesByKey(ctx, r.account, r.types)
	if err != nil {
		return err
	}
	known := map[string]*ContextType{}
	for i := range types {
		known[types[i].Key] = &types[i]
	}
	fresh := unknown(r.types, known)
	kept, err := withRoom(fresh, maxContextTypes, countOf(ctx, tx.ContextTypes, r.account))
	if err != nil {
		return err
	}
	contexts, err := r.compare(ctx, tx, setOf(fresh[len(kept):]), found)
	if err != nil {
		return err
	}
	return r.teach(known, contexts, tx.Now(), found)
}

// compare finds the contexts to write, and gives all that are or will be
// stored. What is new needs room; what exists is refreshed without.
func (r *report) compare(ctx context.Context, tx ReadTx, refused map[string]bool, found *news) ([]Context, error) {
	contexts := slices.DeleteFunc(slices.Clone(r.contexts), func(each Context) bool { return refused[each.Type] })
	stored, err := tx.KnownContexts(ctx, r.account, contexts)
	if err != nil {
		return nil, err
	}
	var fresh, existing []Context
	for _, each := range contexts {
		each.CreatedAt, each.UpdatedAt = tx.Now(), tx.Now()
		same, exists := stored[each.ID()]
		switch {
		case !exists:
			fresh = append(fresh, each)
			continue
		case !same:
			found.contexts = append(found.contexts, each)
		}
		existing = append(existing, each)
	}
	kept, err := withRoom(fresh, maxContexts, countOf(ctx, tx.Contexts, r.account))
	found.contexts = append(found.contexts, kept...)
	found.dropped += len(r.contexts) - len(existing) - len(kept)
	return append(existing, kept...), err
}

// teach makes the types of contexts that are new, and teaches the others
// attribute names that they do not know yet.
func (r *report) teach(known map[string]*ContextType, contexts []Context, now time.Time, found *news) error {
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

// write stores what is new.
func (n *news) write(ctx context.Context, tx Tx, caller accounts.Caller) error {
	if err := tx.InsertEnvironments(ctx, n.environments...); err != nil {
		return err
	}
	if err := tx.InsertServices(ctx, n.services...); err != nil {
		return err
	}
	types := make([]ContextType, len(n.types))
	for i, edit := range n.types {
		types[i] = *edit.After
	}
	if err := tx.SaveContextTypes(ctx, types...); err != nil {
		return err
	}
	if err := tx.UpsertContexts(ctx, n.contexts); err != nil {
		return err
	}
	return n.record(ctx, tx, caller)
}

func (n *news) record(ctx context.Context, tx Tx, caller accounts.Caller) error {
	environments := created(n.environments, func(each Environment) string { return each.Key })
	if err := changes.RecordEach(ctx, tx, caller.Account, caller.Actor(), "", Kind, environments); err != nil {
		return err
	}
	services := created(n.services, func(each ReportingService) string { return each.Key })
	if err := changes.RecordEach(ctx, tx, caller.Account, caller.Actor(), "", KindService, services); err != nil {
		return err
	}
	return changes.RecordEach(ctx, tx, caller.Account, caller.Actor(), "", KindContextType, n.types)
}

func created[T any](made []T, key func(T) string) []changes.Edit[T] {
	edits := make([]changes.Edit[T], len(made))
	for i := range made {
		edits[i] = changes.Edit[T]{Key: key(made[i]), After: &made[i]}
	}
	return edits
}

// withRoom gives as many of what is new as an account may have more. What it
// has is counted only when it matters: most reports bring nothing new.
func withRoom[T any](fresh []T, maximum int, count func() (int, error)) ([]T, error) {
	if len(fresh) == 0 {
		return nil, nil
	}
	stored, err := count()
	return fresh[:min(len(fresh), max(0, maximum-stored))], err
}

// countOf counts what a list has in all.
func countOf[T any](ctx context.Context, list func(context.Context, string, ReportedFilter, page.Request) (page.List[T], error), account string) func() (int, error) {
	return func() (int, error) {
		found, err := list(ctx, account, ReportedFilter{}, page.Request{Number: 1, Total: true})
		return found.Total, err
	}
}

// unknown gives the keys that are not known.
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

// learn adds attribute names to the known ones, each with an empty object for
// what may be said about it later. A type that knows enough learns no more.
func learn(known json.RawMessage, names []string) (json.RawMessage, bool, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(known, &members); err != nil {
		return nil, false, err
	}
	grown := false
	for _, name := range names {
		if _, ok := members[name]; !ok && len(members) < maxKnownNames && reportedKey(name, maxReportedKey) == "" {
			members[name], grown = json.RawMessage(`{}`), true
		}
	}
	if !grown {
		return known, false, nil
	}
	text, err := json.Marshal(members)
	return text, true, err
}
