package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/rawjson"
	"github.com/signalbox/signalbox/internal/summary"
)

func changeResource() resource[changes.Change, none, changes.Filter] {
	return describe("change", func(change changes.Change) (string, any) {
		return strconv.FormatInt(change.Seq, 10), summarized{change, summary.Of(change)}
	}, changeFilter, noDraft)
}

// summarized is a change with the sentences that say what it did.
type summarized struct {
	changes.Change
	Summary []summary.Sentence `json:"summary"`
}

// dryRunSummary describes what a dry run would do. The first change is of the requested
// resource; sentences about other resources begin with their kind and key.
func dryRunSummary(made []changes.Change) []summary.Sentence {
	sentences := []summary.Sentence{}
	for i, change := range made {
		for _, sentence := range summary.Of(change) {
			if i > 0 {
				sentence.Text = change.Kind + " " + change.Key + ": " + sentence.Text
			}
			sentences = append(sentences, sentence)
		}
	}
	return sentences
}

func (a *API) changes(ctx context.Context, caller accounts.Caller, filter changes.Filter, cursor page.Cursor) (page.Tail[changes.Change], error) {
	found, err := a.History.Changes(ctx, caller.Account, filter, sequence(cursor.After), cursor.Size)
	for i := range found.Items {
		found.Items[i] = shownTo(caller, found.Items[i])
	}
	return found, err
}

// shownTo returns a change as the caller may see it. Only the user sees the content of their own settings. Other callers
// see that the settings changed, so the change stays in lists.
func shownTo(caller accounts.Caller, change changes.Change) changes.Change {
	if change.Kind == accounts.KindUserSettings && change.Key != caller.UserID {
		change.Before, change.After, change.Private = nil, nil, true
	}
	return change
}

func changeFilter(c *call) changes.Filter {
	filter := changes.Filter{ActorID: c.query.Filter("actor").Or("")}
	if resource, sent := c.query.Filter("resource").Get(); sent {
		var complete bool
		if filter.Kind, filter.Key, complete = strings.Cut(resource, ":"); !complete || filter.Kind == "" {
			c.query.Refuse("resource", "must be kind:key, such as environment:staging")
		}
		if filter.Kind == logging.Kind { // names of loggers have many spellings
			filter.Key = loglevel.Normalize(filter.Key)
		}
	}
	filter.From, filter.To = c.query.FilterRange("created_at")
	return filter
}

func (a *API) change(c *call) (reply, error) {
	found, err := a.findChange(c)
	return detailed(shownTo(c.caller, found), err)
}

// findChange returns the change that the path names.
func (a *API) findChange(c *call) (changes.Change, error) {
	id := c.request.PathValue("seq")
	seq := sequence(id)
	if seq == 0 {
		return changes.Change{}, fault.Missing("change", id)
	}
	return a.History.Change(c.ctx(), c.caller.Account, seq)
}

// detailedChange is a single change with its diff; lists have no diffs.
type detailedChange struct {
	summarized
	Diff rawjson.Patch `json:"diff"`
}

// detailed replies with one change, or returns err if finding or making it failed.
func detailed(change changes.Change, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	document := changeResource().document(change)
	document.Attributes = detailedChange{summarized{change, summary.Of(change)}, rawjson.Diff(change.Before, change.After)}
	return one(http.StatusOK, document, nil)
}

func isSequence(text string) bool { return sequence(text) != 0 }

// sequence parses a change's number, or returns 0. A number has only one spelling:
// "+1" and "01" are not the id of change 1.
func sequence(text string) int64 {
	seq, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seq < 1 || strconv.FormatInt(seq, 10) != text {
		return 0
	}
	return seq
}
