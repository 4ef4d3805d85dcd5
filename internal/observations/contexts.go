package observations

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/transaction"
)

// ReportedContext is one item of a report of contexts.
type ReportedContext struct {
	Type       string
	Key        string
	Attributes json.RawMessage // a JSON object, or nil if not reported
}

// Contexts with these types report environments and services.
const (
	typeEnvironment = "environment"
	typeService     = "service"
)

// maxEnvironmentKey is the longest allowed key of an environment, in characters.
const maxEnvironmentKey = 100

// check returns the problem of an invalid item, or "".
func (c ReportedContext) check(caller accounts.Caller) string {
	if rule := brokenTypeRule(c.Type); rule != "" {
		return "type " + rule
	}
	if rule := brokenRule(c.Key, maxName); rule != "" {
		return "key " + rule
	}
	switch {
	case len(c.Attributes) > maxAttributes:
		return "attributes must have at most " + strconv.Itoa(maxAttributes) + " bytes"
	case c.Type == typeService && !naming.InPath(c.Key):
		return "key " + naming.PathRule
	case c.Type == typeEnvironment && !naming.IsKey(c.Key, maxEnvironmentKey):
		return "key " + naming.KeyRule(maxEnvironmentKey)
	case c.Type == typeEnvironment && caller.RequireEnvironments(c.Key) != nil:
		return "key must be an environment that this API key may report"
	}
	return ""
}

// Report stores the environments, services and contexts that a service reports. If it fails, a
// part may be stored; repeating the report stores the rest. Every role may report.
func (s *Service) Report(ctx context.Context, caller accounts.Caller, items []ReportedContext) (Outcome, error) {
	kept, rejected := distinctContexts(caller, items)
	outcome := Outcome{Registered: len(kept), Rejected: rejected}
	for slice := range slices.Chunk(kept, sliceSize) {
		dropped, err := s.reportSlice(ctx, caller, slice)
		if err != nil {
			return Outcome{}, err
		}
		outcome.Registered -= dropped
	}
	return outcome, nil
}

// reportSlice stores items without duplicates, and returns how many it dropped.
func (s *Service) reportSlice(ctx context.Context, caller accounts.Caller, items []ReportedContext) (dropped int, err error) {
	r := &contextReport{account: caller.Account, attributes: map[string][]string{}, discoverable: s.Discoverable}
	for _, item := range items {
		r.add(item)
	}
	found, err := transaction.Read(ctx, s.Reports, func(ctx context.Context, tx ReadTx) (*contextNews, error) { return r.compare(ctx, tx) })
	if err == nil && found.any() {
		err = s.queue.Write(ctx, s.Reports, caller.Account, queuedWrite[Tx]{items: len(items), check: confirm[Tx](caller), write: func(ctx context.Context, tx Tx, _ *sharedCount) (err error) {
			if found, err = r.compare(ctx, tx); err != nil { // another report may have stored some of it
				return err
			}
			return found.write(ctx, tx, caller)
		}})
	}
	if err != nil {
		return 0, err
	}
	return found.dropped, nil
}

// contextReport has the items of a slice, sorted by kind.
type contextReport struct {
	account      string
	environments []string
	services     []string
	contexts     []Context
	attributes   map[string][]string // names of attributes by the id of the context
	discoverable func(known map[string]bool, keys []string) (created []string, dropped int)
}

// distinctContexts merges items about the same context. It keeps the order of their first
// appearance.
func distinctContexts(caller accounts.Caller, items []ReportedContext) (kept []ReportedContext, rejected []Rejected) {
	places := map[string]int{}
	for index, item := range items {
		if wrong := item.check(caller); wrong != "" {
			rejected = append(rejected, Rejected{Index: index, Detail: wrong + "."})
			continue
		}
		id := item.Type + ":" + item.Key
		place, repeated := places[id]
		switch {
		case !repeated:
			places[id] = len(kept)
			kept = append(kept, item)
		case item.Attributes != nil: // if nil, the earlier attributes stay
			kept[place] = item
		}
	}
	return kept, rejected
}

func (r *contextReport) add(item ReportedContext) {
	switch item.Type {
	case typeEnvironment:
		r.environments = append(r.environments, item.Key)
	case typeService:
		r.services = append(r.services, item.Key)
	default:
		found := Context{Account: r.account, Type: item.Type, Key: item.Key, Name: item.Key, Attributes: item.Attributes}
		var members map[string]json.RawMessage
		_ = json.Unmarshal(item.Attributes, &members) // nil or an object, because the API has checked it
		r.attributes[found.ID()] = slices.Collect(maps.Keys(members))
		r.contexts = append(r.contexts, found)
	}
}
