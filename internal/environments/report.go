package environments

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/bulk"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/page"
)

// ReportedContext is one item of a report.
type ReportedContext struct {
	Type       string
	Key        string
	Attributes json.RawMessage // a JSON object, or nil when not reported
}

// Types of reported contexts that are resources of their own.
const (
	reportedEnvironment = "environment"
	reportedService     = "service"
)

// check tells what is wrong with an item, or "". The caller's scope counts: a
// key for some environments reports no others.
func (c ReportedContext) check(caller accounts.Caller) string {
	if wrong := reportedName(c.Type, maxTypeKey); wrong != "" {
		return "type " + wrong
	}
	if _, _, colon := SplitContextID(c.Type); colon {
		return "type must not contain a colon"
	}
	if wrong := reportedKey(c.Key, maxReportedKey); wrong != "" {
		return "key " + wrong
	}
	if c.Type == reportedService && !naming.InPath(c.Key) {
		return "key " + naming.PathRule
	}
	if len(c.Attributes) > maxAttributes {
		return "attributes must have at most " + strconv.Itoa(maxAttributes) + " bytes"
	}
	if c.Type != reportedEnvironment {
		return ""
	}
	if !naming.IsKey(c.Key, maxKey) {
		return "key " + naming.KeyRule(maxKey)
	}
	if caller.RequireEnvironment(c.Key) != nil {
		return "key must be an environment that this API key may report"
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
func (s *Service) Report(ctx context.Context, caller accounts.Caller, items []ReportedContext) (bulk.Outcome, error) {
	outcome := bulk.Outcome{}
	kept := map[string]ReportedContext{}
	var order []string
	for index, item := range items {
		if wrong := item.check(caller); wrong != "" {
			outcome.Rejected = append(outcome.Rejected, bulk.Rejected{Index: index, Detail: wrong + "."})
			continue
		}
		id := item.Type + ":" + item.Key
		earlier, seen := kept[id]
		if !seen {
			order = append(order, id)
		}
		if item.Attributes == nil { // says nothing about them
			item.Attributes = earlier.Attributes
		}
		kept[id] = item
	}
	outcome.Registered = len(order)
	if len(order) == 0 {
		return outcome, nil
	}
	err := s.Store.Write(ctx, caller.Account, func(tx Tx) error {
		dropped, err := sortReport(tx, caller, order, kept).write(ctx, tx, caller)
		outcome.Registered = len(order) - dropped
		return err
	})
	return outcome, err
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

// write stores the report and tells how many items an account had no room for.
func (r *report) write(ctx context.Context, tx Tx, caller accounts.Caller) (dropped int, err error) {
	for _, each := range []struct {
		keys     []string
		room     room
		discover func(ctx context.Context, tx Tx, caller accounts.Caller, key string, room *room) error
	}{
		{r.environments, room{maximum: maxReportedEnvironments, count: countOf(ctx, tx.Environments, caller, Filter{})}, discoverEnvironment},
		{r.services, room{maximum: maxServices, count: countOf(ctx, tx.Services, caller, ReportedFilter{})}, discoverService},
		{r.types, room{maximum: maxContextTypes, count: countOf(ctx, tx.ContextTypes, caller, ReportedFilter{})}, r.discoverContextType},
	} {
		for _, key := range each.keys {
			if err := each.discover(ctx, tx, caller, key, &each.room); err != nil {
				return 0, err
			}
		}
		dropped += each.room.refused
	}
	return dropped, tx.UpsertContexts(ctx, r.contexts)
}

// room is how many more rows of a kind an account may have. It is counted when
// it is first needed: most reports bring nothing new.
type room struct {
	maximum int
	count   func() (int, error)
	counted bool
	left    int
	refused int
}

func (r *room) take() (bool, error) {
	if !r.counted {
		count, err := r.count()
		if err != nil {
			return false, err
		}
		r.left, r.counted = r.maximum-count, true
	}
	if r.left <= 0 {
		r.refused++
		return false, nil
	}
	r.left--
	return true, nil
}

// countOf counts what a list has in all.
func countOf[F, T any](ctx context.Context, list func(context.Context, string, F, page.Request) (page.List[T], error), caller accounts.Caller, filter F) func() (int, error) {
	return func() (int, error) {
		found, err := list(ctx, caller.Account, filter, page.Request{Number: 1, Size: 1, Total: true})
		return found.Total, err
	}
}

func discoverEnvironment(ctx context.Context, tx Tx, caller accounts.Caller, key string, room *room) error {
	if _, err := tx.Environment(ctx, caller.Account, key); !fault.Is(err, fault.NotFound) {
		return err
	}
	if free, err := room.take(); err != nil || !free {
		return err
	}
	return insert(ctx, tx, caller.Actor(), Environment{Account: caller.Account, Key: key, Name: key,
		Classification: AdHoc, CreatedAt: tx.Now(), UpdatedAt: tx.Now()})
}

func discoverService(ctx context.Context, tx Tx, caller accounts.Caller, key string, room *room) error {
	if _, err := tx.Service(ctx, caller.Account, key); !fault.Is(err, fault.NotFound) {
		return err
	}
	if free, err := room.take(); err != nil || !free {
		return err
	}
	return insertService(ctx, tx, caller, ReportingService{Account: caller.Account, Key: key, Name: key,
		CreatedAt: tx.Now(), UpdatedAt: tx.Now()})
}

// discoverContextType makes a context type, or teaches it attribute names
// that it does not know yet.
func (r *report) discoverContextType(ctx context.Context, tx Tx, caller accounts.Caller, key string, room *room) error {
	before, err := tx.ContextType(ctx, caller.Account, key)
	if fault.Is(err, fault.NotFound) {
		return r.insertContextType(ctx, tx, caller, key, room)
	}
	if err != nil {
		return err
	}
	attributes, grown, err := learn(before.Attributes, r.attributes[key])
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

// insertContextType makes a context type. One that there is no room for takes
// its contexts with it.
func (r *report) insertContextType(ctx context.Context, tx Tx, caller accounts.Caller, key string, room *room) error {
	if free, err := room.take(); err != nil || !free {
		before := len(r.contexts)
		r.contexts = slices.DeleteFunc(r.contexts, func(found Context) bool { return found.Type == key })
		room.refused += before - len(r.contexts) - 1 // items count, and the type is none
		return err
	}
	attributes, _, err := learn(json.RawMessage(`{}`), r.attributes[key])
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
// what may be said about it later. A type that knows enough learns no more.
func learn(known json.RawMessage, names []string) (json.RawMessage, bool, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(known, &members); err != nil {
		return nil, false, err
	}
	grown := false
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
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
