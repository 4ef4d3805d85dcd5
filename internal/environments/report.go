package environments

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/bulk"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/transaction"
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

// Report takes what a running service says about itself. Bad items are
// skipped and listed; the rest is kept, in one transaction. Most reports say
// nothing new, which is found out without the account's lock. Every role may
// call it.
func (s *Service) Report(ctx context.Context, caller accounts.Caller, items []ReportedContext) (bulk.Outcome, error) {
	r := newReport(caller, items)
	if r.size == 0 {
		return bulk.Outcome{Rejected: r.rejected}, nil
	}
	found, err := transaction.Read(ctx, s.Store, func(tx ReadTx) (*news, error) { return r.news(ctx, tx) })
	if err == nil && found.any() {
		found, err = transaction.Write(ctx, s.Store, caller.Account, func(tx Tx) (*news, error) {
			found, err := r.news(ctx, tx) // others may have been first
			if err != nil {
				return nil, err
			}
			return found, found.write(ctx, tx, caller)
		})
	}
	if err != nil {
		return bulk.Outcome{}, err
	}
	return bulk.Outcome{Registered: r.size - found.dropped, Rejected: r.rejected}, nil
}

// report is what one bulk report says: distinct items by what they are, in the
// order in which they first come.
type report struct {
	account      string
	size         int
	environments []string
	services     []string
	types        []string
	contexts     []Context
	attributes   map[string][]string // the names of a context's attributes, by its id
	rejected     []bulk.Rejected
}

func newReport(caller accounts.Caller, items []ReportedContext) *report {
	r := &report{account: caller.Account, attributes: map[string][]string{}}
	kept := map[string]ReportedContext{}
	var order []string
	for index, item := range items {
		if wrong := item.check(caller); wrong != "" {
			r.rejected = append(r.rejected, bulk.Rejected{Index: index, Detail: wrong + "."})
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
		switch item := kept[id]; item.Type {
		case reportedEnvironment:
			r.environments = append(r.environments, item.Key)
		case reportedService:
			r.services = append(r.services, item.Key)
		default:
			r.addContext(Context{Account: caller.Account, Type: item.Type, Key: item.Key, Name: item.Key, Attributes: item.Attributes})
		}
	}
	r.types = typesOf(r.contexts)
	return r
}

func (r *report) addContext(found Context) {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(found.Attributes, &members) // an object or nothing: the reader has seen to it
	r.attributes[found.ID()] = slices.Collect(maps.Keys(members))
	r.contexts = append(r.contexts, found)
}

// typesOf gives the types of contexts, each once.
func typesOf(contexts []Context) (types []string) {
	listed := map[string]bool{}
	for _, found := range contexts {
		if !listed[found.Type] {
			listed[found.Type] = true
			types = append(types, found.Type)
		}
	}
	return types
}
