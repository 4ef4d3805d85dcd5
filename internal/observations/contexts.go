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
	Attributes json.RawMessage // a JSON object, or nil when not reported
}

// Types of reported contexts that are resources of their own.
const (
	typeEnvironment = "environment"
	typeService     = "service"
)

// maxEnvironmentKey is how long the key of an environment may be.
const maxEnvironmentKey = 100

// check returns what is wrong with an item, or "".
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
	case c.Type == typeEnvironment && caller.RequireEnvironment(c.Key) != nil:
		return "key must be an environment that this API key may report"
	}
	return ""
}

// Report stores what a running service reports about itself, in one
// transaction. Every role may call it.
func (s *Service) Report(ctx context.Context, caller accounts.Caller, items []ReportedContext) (Outcome, error) {
	r := readContexts(caller, items)
	r.discoverable = s.Discoverable
	if r.size == 0 {
		return Outcome{Rejected: r.rejected}, nil
	}
	found, err := transaction.Read(ctx, s.Store, func(tx ReadTx) (*contextNews, error) { return r.compare(ctx, tx) })
	if err == nil && found.any() {
		err = s.queue.Write(ctx, s.Store, caller.Account, r.size, func(tx Tx, _ *sharedCount) (err error) {
			if found, err = r.compare(ctx, tx); err != nil { // others may have been first
				return err
			}
			return found.write(ctx, tx, caller)
		})
	}
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Registered: r.size - found.dropped, Rejected: r.rejected}, nil
}

// contextReport is the distinct items of a report, by what they are, in the
// order in which they first come.
type contextReport struct {
	account      string
	size         int
	environments []string
	services     []string
	contexts     []Context
	attributes   map[string][]string // names of attributes, by the context's id
	rejected     []Rejected
	discoverable func(known map[string]bool, keys []string) (created []string, dropped int)
}

func readContexts(caller accounts.Caller, items []ReportedContext) *contextReport {
	r := &contextReport{account: caller.Account, attributes: map[string][]string{}}
	kept := map[string]ReportedContext{}
	var order []string
	for index, item := range items {
		if wrong := item.check(caller); wrong != "" {
			r.rejected = append(r.rejected, Rejected{Index: index, Detail: wrong + "."})
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
	r.size = len(order)
	for _, id := range order {
		r.add(kept[id])
	}
	return r
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
		_ = json.Unmarshal(item.Attributes, &members) // nil, or an object: the API has checked it
		r.attributes[found.ID()] = slices.Collect(maps.Keys(members))
		r.contexts = append(r.contexts, found)
	}
}
