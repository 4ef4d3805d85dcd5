package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/configs"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// A change is undone by the write that anybody could send: the document from
// before it goes through the routes of its resource, and so through the same
// rules, roles and limits.

// reversal has the patterns of the routes that write a kind of resource; one is
// empty where there is no such route.
type reversal struct{ get, create, replace, remove string }

// reversals returns the kinds whose changes can be undone. Those that are missing
// grant access, which is decided anew each time: keys, users.
func reversals() map[string]reversal {
	kinds := map[string]reversal{
		accounts.KindAccount:         {get: "GET /api/v1/accounts/current", replace: "PUT /api/v1/accounts/current"},
		accounts.KindAccountSettings: {get: "GET /api/v1/accounts/current/settings", replace: "PUT /api/v1/accounts/current/settings"},
		accounts.KindUserSettings:    {get: "GET /api/v1/users/current/settings", replace: "PUT /api/v1/users/current/settings"},
	}
	for kind, path := range map[string]string{
		environments.Kind: "/api/v1/environments", observations.KindService: "/api/v1/services",
		observations.KindContextType: "/api/v1/context_types", observations.KindContext: "/api/v1/contexts",
		flags.Kind: "/api/v1/flags", logging.Kind: "/api/v1/loggers", logging.KindGroup: "/api/v1/log_groups",
		configs.Kind: "/api/v1/configs", jobs.Kind: "/api/v1/jobs",
	} {
		kinds[kind] = reversal{"GET " + path + "/{id}", "POST " + path, "PUT " + path + "/{id}", "DELETE " + path + "/{id}"}
	}
	logger, context := kinds[logging.Kind], kinds[observations.KindContext]
	logger.create, context.create = logger.replace, "" // contexts are only reported
	kinds[logging.Kind], kinds[observations.KindContext] = logger, context
	return kinds
}

// revertAttempts bounds how often a revert is decided again because the resource
// changed meanwhile.
const revertAttempts = 3

// revert undoes a change. The role that it needs is that of the write it makes.
func (a *API) revert(c *call) (reply, error) {
	force := c.query.Bool("force").Or(false)
	if err := c.query.Err(); err != nil {
		return reply{}, err
	}
	if err := c.nothing(); err != nil {
		return reply{}, err
	}
	change, err := a.findChange(c)
	if err != nil {
		return reply{}, err
	}
	user, err := a.Accounts.CurrentUser(c.ctx(), c.caller) // a key may stand for another than its maker
	if err != nil && !fault.Is(err, fault.NotFound) {
		return reply{}, err
	}
	routes, err := revertible(user.ID, change)
	if err != nil {
		return reply{}, err
	}
	undo := undoing{api: a, call: c, routes: routes, change: change, force: force}
	for range revertAttempts {
		var made changes.Change
		if made, err = undo.attempt(); !fault.Is(err, fault.VersionMismatch) {
			return detailed(made, err)
		}
	}
	return reply{}, err
}

// revertible returns the routes by which a change can be undone by a user, or why it cannot.
func revertible(user string, change changes.Change) (reversal, error) {
	routes, known := reversals()[change.Kind]
	switch {
	case !known:
		return reversal{}, notRevertible("Changes of kind %s cannot be reverted: what they grant or take away is decided anew each time.", change.Kind)
	case change.Trimmed:
		return reversal{}, notRevertible("What was before this change is no longer kept, because the account's history became too large. Write the %s as you want it instead.", change.Kind)
	case change.Key == changes.AllKeys:
		return reversal{}, notRevertible("This change is one of several resources at once. Revert the changes of single ones, where there are any.")
	case change.Action == changes.Expired:
		return reversal{}, notRevertible("This change removed a level whose time had come. Set the level again, with another expiry or without.")
	case change.Kind == accounts.KindUserSettings && change.Key != user:
		return reversal{}, fault.New(fault.Forbidden, "These are the settings of another user, who alone can revert them.")
	case change.Before == nil && routes.remove == "":
		return reversal{}, notRevertible("This change created the %s, which cannot be deleted.", change.Kind)
	}
	return routes, nil
}

func notRevertible(format string, args ...any) error {
	return fault.New(fault.NotRevertible, format, args...)
}

// undoing is one revert.
type undoing struct {
	api    *API
	call   *call
	routes reversal
	change changes.Change
	force  bool
}

// attempt undoes the change and returns the one that it makes. The state is read
// before the history, and the write insists on it: what happens in between is
// noticed.
func (u undoing) attempt() (changes.Change, error) {
	tag, err := u.currentTag()
	if err != nil {
		return changes.Change{}, err
	}
	pattern := u.pattern(tag != "")
	if pattern == "" {
		return changes.Change{}, notRevertible("The %s is gone, and only there again when a service reports it.", u.change.Kind)
	}
	route := u.api.table[pattern]
	if err := route.access.needs.Permit(u.call.caller); err != nil {
		return changes.Change{}, err
	}
	if err := u.checkUnchanged(tag != ""); err != nil {
		return changes.Change{}, err
	}
	body, err := u.body()
	if err != nil {
		return changes.Change{}, err
	}
	return u.write(route, body, tag)
}

// pattern returns the route that leads back, given whether the resource exists.
func (u undoing) pattern(exists bool) string {
	switch {
	case u.change.Before == nil:
		return u.routes.remove
	case exists:
		return u.routes.replace
	}
	return u.routes.create
}

// currentTag returns the ETag of the resource as it is; "" if there is none.
func (u undoing) currentTag() (string, error) {
	found, err := u.api.table[u.routes.get].handle(u.part(nil, ""))
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	return found.etag, err
}

// shownLater bounds how many later changes a refusal names.
const shownLater = 100

// checkUnchanged refuses to undo a change that others came after, unless forced.
func (u undoing) checkUnchanged(exists bool) error {
	if u.force {
		return nil
	}
	later, err := u.api.History.LaterChanges(u.call.ctx(), u.call.caller.Account, u.change.Kind, u.change.Key, u.change.Seq)
	if err != nil {
		return err
	}
	still := changes.StillChanged(u.change.Seq, later)
	if len(still) == 0 {
		return nil
	}
	advice, err := u.advice(later, still, exists)
	if err != nil {
		return err
	}
	times := fmt.Sprintf("%d times after this change, last by change %d", len(still), still[len(still)-1])
	if len(still) == 1 {
		times = fmt.Sprintf("after this change, by change %d", still[0])
	}
	return fault.New(fault.ChangedSince, "The %s %q was changed %s. %s", u.change.Kind, u.change.Key, times, advice).
		With("later", still[max(0, len(still)-shownLater):])
}

// advice says how the change can be undone although others came after it. It names only ways that lead there.
func (u undoing) advice(later []changes.Change, still []int64, exists bool) (string, error) {
	if u.change.Before == nil && !exists {
		return "It was deleted meanwhile, so there is nothing to revert.", nil
	}
	demotes, err := u.demotes(exists)
	if err != nil {
		return "", err
	}
	if demotes {
		return "Before this change the flag was only discovered, and a flag that is managed cannot become so again. Delete it instead.", nil
	}
	for _, change := range later {
		if slices.Contains(still, change.Seq) && !u.routes.canUndo(change) {
			return fmt.Sprintf("Change %d cannot be reverted. Send force=true to lose what came after this change.", change.Seq), nil
		}
	}
	return "Revert those first, newest first, or send force=true to lose them.", nil
}

// demotes reports whether undoing the change would make a managed flag a discovered one, which no write can.
func (u undoing) demotes(exists bool) (bool, error) {
	if u.change.Kind != flags.Kind || u.change.Before == nil || !exists {
		return false, nil
	}
	var before struct {
		Managed bool `json:"managed"`
	}
	if err := json.Unmarshal(u.change.Before, &before); err != nil || before.Managed {
		return false, err
	}
	flag, err := u.api.Flags.Flag(u.call.ctx(), u.call.caller, u.change.Key)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return flag.Managed, err
}

// canUndo reports whether a change of a kind with these routes, known without its documents, can be undone.
func (r reversal) canUndo(change changes.Change) bool {
	switch {
	case change.Key == changes.AllKeys || change.Action == changes.Expired:
		return false
	case change.Action == changes.Created:
		return r.remove != ""
	case change.Action == changes.Deleted:
		return r.create != ""
	}
	return true
}

// body returns the document that restores the resource; nil to delete it.
func (u undoing) body() ([]byte, error) {
	if u.change.Before == nil {
		return nil, nil
	}
	attributes, err := u.attributes()
	if err != nil {
		return nil, err
	}
	id := u.change.Key
	if u.routes.create == "" && u.routes.remove == "" {
		id = current
	}
	return json.Marshal(jsonapi.Single{Data: jsonapi.Resource{ID: id, Type: u.change.Kind, Attributes: attributes}})
}

// attributes returns the resource as it was before. The history has jobs without
// what they send, which is kept elsewhere for a time.
func (u undoing) attributes() (json.RawMessage, error) {
	if u.change.Kind != jobs.Kind {
		return u.change.Before, nil
	}
	var recorded struct {
		ConfigurationID string `json:"configuration_id"`
	}
	if err := json.Unmarshal(u.change.Before, &recorded); err != nil {
		return nil, err
	}
	configuration, err := u.api.Jobs.Configuration(u.call.ctx(), u.call.caller, recorded.ConfigurationID)
	if fault.Is(err, fault.NotFound) {
		return nil, notRevertible("What the job sent before this change is no longer kept. Replace the job instead.")
	}
	if err != nil {
		return nil, err
	}
	members := map[string]json.RawMessage{}
	rawjson.Members(u.change.Before, func(name string, value json.RawMessage) { members[name] = value })
	delete(members, "configuration_id")
	if members["configuration"], err = json.Marshal(configuration); err != nil {
		return nil, err
	}
	return json.Marshal(members)
}

// write calls the route that restores the resource, if it is still as tag says,
// and returns the change that it recorded.
func (u undoing) write(route route, body []byte, tag string) (changes.Change, error) {
	part := u.part(body, tag)
	undone := &changes.Revert{Kind: u.change.Kind, Key: u.change.Key, Seq: u.change.Seq}
	part.caller.Needs, part.caller.Revert, part.restores = route.access.needs, undone, true
	_, err := route.handle(part)
	switch {
	case err != nil:
		return changes.Change{}, withoutSources(err)
	case undone.Made.Seq == 0:
		return changes.Change{}, fmt.Errorf("%s recorded no change when it undid number %d", route.pattern, u.change.Seq)
	}
	return undone.Made, nil
}

// part returns a call of another route as a part of this one. What the caller wants
// to be refused is not looked for in a body that the caller did not send.
func (u undoing) part(body []byte, ifMatch string) *call {
	writer := *u.call.writer
	writer.strict = false
	request := &http.Request{URL: &url.URL{}, Header: http.Header{}, RemoteAddr: u.api.peers.of(u.call.request),
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body))}
	if ifMatch != "" {
		request.Header.Set("If-Match", ifMatch)
	}
	return &call{request: request, writer: &writer, caller: u.call.caller, query: &jsonapi.Query{}, id: u.change.Key}
}

// withoutSources removes the places of problems: they are in a body that the
// caller did not send.
func withoutSources(err error) error {
	var problems fault.Problems
	for _, refusal := range fault.All(err) {
		if refusal.Source.Kind == fault.NoSource {
			return err
		}
		problems.Add(refusal.At(fault.Source{}))
	}
	return cmp.Or(problems.Err(), err)
}
