package environments

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
)

// ReportedContext is one item of a report.
type ReportedContext struct {
	Type       string
	Key        string
	Attributes json.RawMessage // a JSON object, or nil when not reported
}

// Rejected is an item of a report that was skipped.
type Rejected struct {
	Index  int
	Detail string
}

// Outcome says what became of a report.
type Outcome struct {
	// Registered counts the distinct items that were kept.
	Registered int
	Rejected   []Rejected
}

// Types of reported contexts that are resources of their own.
const (
	reportedEnvironment = "environment"
	reportedService     = "service"
)

// check tells what is wrong with an item, or "". The caller's scope counts: a
// key for some environments reports no others.
func (c ReportedContext) check(caller accounts.Caller) string {
	if wrong := reportedKey(c.Type, maxTypeKey); wrong != "" {
		return "type " + wrong
	}
	if _, _, colon := SplitContextID(c.Type); colon {
		return "type must not contain a colon"
	}
	if wrong := reportedKey(c.Key, maxReportedKey); wrong != "" {
		return "key " + wrong
	}
	if len(c.Attributes) > maxAttributes {
		return "attributes are too large"
	}
	if c.Type != reportedEnvironment {
		return ""
	}
	if !keyPattern.MatchString(c.Key) {
		return "key must be 1 to 100 letters, digits, dots, underscores or hyphens and start with a letter or digit"
	}
	if caller.RequireEnvironment(c.Key) != nil {
		return "this key may not report that environment"
	}
	return ""
}

// report is the work of one bulk report: distinct items by what they are.
type report struct {
	environments []string
	services     []string
	types        []string
	contexts     []Context
	attributes   map[string][]string // context type → attribute names
}

// Report takes what a running service says about itself. Bad items are
// skipped and listed; the rest is kept, in one transaction. Every role may call it.
func (s *Service) Report(ctx context.Context, caller accounts.Caller, items []ReportedContext) (Outcome, error) {
	outcome := Outcome{}
	kept := map[string]ReportedContext{}
	var order []string
	for index, item := range items {
		if wrong := item.check(caller); wrong != "" {
			outcome.Rejected = append(outcome.Rejected, Rejected{Index: index, Detail: wrong})
			continue
		}
		id := item.Type + ":" + item.Key
		if _, seen := kept[id]; !seen {
			order = append(order, id)
		}
		kept[id] = item
	}
	outcome.Registered = len(order)
	if len(order) == 0 {
		return outcome, nil
	}
	return outcome, s.Store.Write(ctx, caller.Account, func(tx Tx) error {
		return sortReport(tx, caller, order, kept).write(ctx, tx, caller)
	})
}

func sortReport(tx Tx, caller accounts.Caller, order []string, kept map[string]ReportedContext) *report {
	sorted := &report{attributes: map[string][]string{}}
	for _, id := range order {
		switch item := kept[id]; item.Type {
		case reportedEnvironment:
			sorted.environments = append(sorted.environments, item.Key)
		case reportedService:
			sorted.services = append(sorted.services, item.Key)
		default:
			sorted.addContext(Context{Account: caller.Account, Type: item.Type, Key: item.Key, Name: item.Key,
				Attributes: item.Attributes, CreatedAt: tx.Now(), UpdatedAt: tx.Now()})
		}
	}
	return sorted
}

func (r *report) addContext(found Context) {
	if _, known := r.attributes[found.Type]; !known {
		r.types = append(r.types, found.Type)
		r.attributes[found.Type] = nil
	}
	var members map[string]json.RawMessage
	_ = json.Unmarshal(found.Attributes, &members) // an object or nothing: the reader has seen to it
	for name := range members {
		r.attributes[found.Type] = append(r.attributes[found.Type], name)
	}
	r.contexts = append(r.contexts, found)
}

func (r *report) write(ctx context.Context, tx Tx, caller accounts.Caller) error {
	for _, key := range r.environments {
		if err := discoverEnvironment(ctx, tx, caller, key); err != nil {
			return err
		}
	}
	for _, key := range r.services {
		if err := discoverService(ctx, tx, caller, key); err != nil {
			return err
		}
	}
	for _, key := range r.types {
		if err := discoverContextType(ctx, tx, caller, key, r.attributes[key]); err != nil {
			return err
		}
	}
	return tx.UpsertContexts(ctx, r.contexts)
}

func discoverEnvironment(ctx context.Context, tx Tx, caller accounts.Caller, key string) error {
	if _, err := tx.Environment(ctx, caller.Account, key); !fault.Is(err, fault.NotFound) {
		return err
	}
	return insert(ctx, tx, caller.Actor(), Environment{Account: caller.Account, Key: key, Name: key,
		Classification: AdHoc, CreatedAt: tx.Now(), UpdatedAt: tx.Now()})
}

func discoverService(ctx context.Context, tx Tx, caller accounts.Caller, key string) error {
	if _, err := tx.Service(ctx, caller.Account, key); !fault.Is(err, fault.NotFound) {
		return err
	}
	return insertService(ctx, tx, caller, ReportingService{Account: caller.Account, Key: key, Name: key,
		CreatedAt: tx.Now(), UpdatedAt: tx.Now()})
}

// discoverContextType makes a context type, or teaches it attribute names
// that it does not know yet.
func discoverContextType(ctx context.Context, tx Tx, caller accounts.Caller, key string, names []string) error {
	before, err := tx.ContextType(ctx, caller.Account, key)
	if fault.Is(err, fault.NotFound) {
		return insertContextType(ctx, tx, caller, key, names)
	}
	if err != nil {
		return err
	}
	attributes, grown, err := learn(before.Attributes, names)
	if err != nil || !grown {
		return err
	}
	after := before
	after.Attributes, after.UpdatedAt = attributes, tx.Now()
	if err := tx.UpdateContextType(ctx, after); err != nil {
		return err
	}
	return changes.Record(ctx, tx, caller.Account, caller.Actor(), KindContextType, key, &before, &after)
}

func insertContextType(ctx context.Context, tx Tx, caller accounts.Caller, key string, names []string) error {
	attributes, _, err := learn(json.RawMessage(`{}`), names)
	if err != nil {
		return err
	}
	contextType := ContextType{Account: caller.Account, Key: key, Name: key, Attributes: attributes,
		CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
	if err := tx.InsertContextType(ctx, contextType); err != nil {
		return err
	}
	return changes.Record(ctx, tx, caller.Account, caller.Actor(), KindContextType, key, nil, &contextType)
}

// learn adds attribute names to the known ones, each with an empty object for
// what may be said about it later.
func learn(known json.RawMessage, names []string) (json.RawMessage, bool, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(known, &members); err != nil {
		return nil, false, err
	}
	grown := false
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if _, ok := members[name]; !ok {
			members[name], grown = json.RawMessage(`{}`), true
		}
	}
	if !grown {
		return known, false, nil
	}
	text, err := json.Marshal(members)
	return text, true, err
}
