package api

import (
	"context"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/plans"
)

// current is the id of a resource that each caller has exactly one of.
const current = "current"

// plainJSON is the media type of bodies without an envelope.
const plainJSON = "application/json"

// accountView is an account with the limits of its plans.
type accountView struct {
	accounts.Account

	Limits map[plans.Limit]int `json:"limits"`
}

func (a *API) accountDocument(account accounts.Account) jsonapi.Resource {
	return jsonapi.Resource{ID: account.ID, Type: accounts.KindAccount, Attributes: accountView{account, a.Plans.Limits(account.Plans)}}
}

func (a *API) account(c *call) (reply, error) {
	account, err := a.Accounts.Account(c.ctx(), c.caller)
	return one(http.StatusOK, a.accountDocument(account), err)
}

func (a *API) replaceAccount(c *call) (reply, error) {
	envelope, err := c.envelope(accounts.KindAccount)
	if err != nil {
		return reply{}, err
	}
	if envelope.ID.Or("") != current {
		envelope.RequireID(c.caller.Account)
	}
	envelope.Attributes.Know(jsonapi.MemberNames(accountView{})...)
	account, err := a.Accounts.ReplaceAccount(c.ctx(), c.caller, accountDraft(envelope), ifMatch(c, a.accountDocument))
	return one(http.StatusOK, a.accountDocument(account), err)
}

func accountDraft(envelope *jsonapi.Envelope) accounts.AccountDraft {
	draft := accounts.AccountDraft{
		Name:  envelope.Attributes.String("name"),
		Key:   envelope.Attributes.String("key"),
		Plans: heldPlans(envelope.Attributes),
	}
	draft.Problems = envelope.Done()
	return draft
}

func heldPlans(attributes *jsonapi.Object) optional.Value[plans.Held] {
	object, sent := attributes.Object("plans", `{"flags": "pro"}`).Get()
	if !sent {
		return optional.Value[plans.Held]{}
	}
	held := plans.Held{}
	for _, product := range object.Names() {
		held[plans.Product(product)] = object.String(product).Or("")
	}
	return optional.Of(held)
}

func (a *API) user(c *call) (reply, error) {
	user, err := a.Accounts.CurrentUser(c.ctx(), c.caller)
	return userResource().answer(http.StatusOK, user, err)
}

// settings serves the settings of a kind.
func settings(kind string, find func(context.Context, accounts.Caller) (accounts.Settings, error)) handler {
	return func(c *call) (reply, error) {
		settings, err := find(c.ctx(), c.caller)
		return c.settings(kind, settings, err)
	}
}

// replaceSettings replaces the settings of a kind with the body.
func replaceSettings(kind string,
	replace func(context.Context, accounts.Caller, accounts.SettingsDraft, changes.Match[accounts.Settings]) (accounts.Settings, error),
) handler {
	return func(c *call) (reply, error) {
		envelope, err := c.settingsEnvelope(kind)
		if err != nil {
			return reply{}, err
		}
		settings, err := replace(c.ctx(), c.caller, settingsDraft(envelope), ifMatch(c, settingsDocument(kind)))
		return c.settings(kind, settings, err)
	}
}

func settingsDraft(envelope *jsonapi.Envelope) accounts.SettingsDraft {
	draft := accounts.SettingsDraft{
		Order: envelope.Attributes.Strings("environment_order"),
		Other: envelope.Attributes.Without("environment_order"),
	}
	draft.Problems = envelope.Done()
	return draft
}

// settings replies with settings in the form that the caller asks for.
func (c *call) settings(kind string, settings accounts.Settings, err error) (reply, error) {
	result, err := one(http.StatusOK, settingsDocument(kind)(settings), err)
	c.writer.vary("Accept, Content-Type")
	if err == nil && c.wantsBare() {
		result.document, result.mediaType, result.etag = settings, plainJSON, formTag(result.etag, bareTag)
	}
	return result, err
}

func settingsDocument(kind string) func(accounts.Settings) jsonapi.Resource {
	return func(settings accounts.Settings) jsonapi.Resource {
		return jsonapi.Resource{ID: current, Type: kind, Attributes: settings}
	}
}

// settingsEnvelope reads settings from the body, which may have an envelope.
func (c *call) settingsEnvelope(kind string) (*jsonapi.Envelope, error) {
	text, err := c.text()
	if err != nil {
		return nil, err
	}
	if c.wantsBare() && !c.sendsEnvelope(text) {
		return c.bareEnvelope(c.object(text))
	}
	envelope, err := c.parseEnvelope(text, kind)
	if err != nil {
		return nil, err
	}
	envelope.RequireID(current)
	return envelope, nil
}

// sendsEnvelope reports whether the body is an envelope by both its type and its shape, and ignores
// Accept: many HTTP libraries accept plain JSON by default.
func (c *call) sendsEnvelope(text []byte) bool {
	if mediaType(c.request.Header.Get("Content-Type")) != jsonapi.MediaType {
		return false
	}
	body, err := jsonapi.ParseObject(text)
	if err != nil {
		return false
	}
	data, sent := body.Object("data", `{"attributes": {}}`).Get()
	return sent && slices.Contains(data.Names(), "attributes")
}

// wantsBare reports whether the caller wants settings without an envelope: it names
// application/json in Accept, or in Content-Type with no specific type in Accept.
func (c *call) wantsBare() bool {
	specific := false
	for item := range strings.SplitSeq(c.request.Header.Get("Accept"), ",") {
		switch named := mediaType(item); {
		case named == jsonapi.MediaType:
			return false
		case named == plainJSON:
			return true
		case named != "" && !strings.Contains(named, "*"):
			specific = true
		}
	}
	return !specific && mediaType(c.request.Header.Get("Content-Type")) == plainJSON
}

func mediaType(header string) string {
	name, _, err := mime.ParseMediaType(header)
	if err != nil {
		return ""
	}
	return name
}
