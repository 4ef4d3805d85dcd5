package api

import (
	"mime"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/plans"
)

// current is the id of what there is one of for each caller.
const current = "current"

// plainJSON is the media type of what is no envelope.
const plainJSON = "application/json"

func accountResource(account accounts.Account) jsonapi.Resource {
	return jsonapi.Resource{ID: account.ID, Type: accounts.KindAccount, Attributes: account}
}

func (a *API) account(c *call) (reply, error) {
	account, err := a.Accounts.Account(c.ctx(), c.caller)
	return read(account, err, accountResource)
}

func (a *API) replaceAccount(c *call) (reply, error) {
	envelope, err := c.envelope(accounts.KindAccount)
	if err != nil {
		return failed(err)
	}
	envelope.RequireID(c.caller.Account, func(sent string) string {
		if sent == current {
			return c.caller.Account
		}
		return sent
	})
	draft := accounts.AccountDraft{
		Name:  envelope.Attributes.String("name"),
		Key:   envelope.Attributes.String("key"),
		Plans: heldPlans(envelope.Attributes),
	}
	draft.Problems = *envelope.Problems
	account, err := a.Accounts.ReplaceAccount(c.ctx(), c.caller, draft, ifMatch(c, accountResource))
	return read(account, err, accountResource)
}

func heldPlans(attributes *jsonapi.Object) optional.Value[plans.Held] {
	object, sent := attributes.Object("plans").Get()
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
	return read(user, err, func(user accounts.User) jsonapi.Resource {
		return jsonapi.Resource{ID: user.ID, Type: "user", Attributes: user}
	})
}

func (a *API) accountSettings(c *call) (reply, error) {
	settings, err := a.Accounts.AccountSettings(c.ctx(), c.caller)
	return c.settings(settings, err, accounts.KindAccountSettings)
}

func (a *API) userSettings(c *call) (reply, error) {
	settings, err := a.Accounts.UserSettings(c.ctx(), c.caller)
	return c.settings(settings, err, accounts.KindUserSettings)
}

func (a *API) replaceAccountSettings(c *call) (reply, error) {
	return c.replaceSettings(accounts.KindAccountSettings, func(draft accounts.SettingsDraft, match changes.Match[accounts.Settings]) (accounts.Settings, error) {
		return a.Accounts.ReplaceAccountSettings(c.ctx(), c.caller, draft, match)
	})
}

func (a *API) replaceUserSettings(c *call) (reply, error) {
	return c.replaceSettings(accounts.KindUserSettings, func(draft accounts.SettingsDraft, match changes.Match[accounts.Settings]) (accounts.Settings, error) {
		return a.Accounts.ReplaceUserSettings(c.ctx(), c.caller, draft, match)
	})
}

// settings answers with settings in the form that the caller asks for.
func (c *call) settings(settings accounts.Settings, err error, kind string) (reply, error) {
	result, err := read(settings, err, settingsResource(kind))
	if err == nil && c.wantsBare() {
		result.document, result.mediaType = settings, plainJSON
	}
	return result, err
}

func settingsResource(kind string) func(accounts.Settings) jsonapi.Resource {
	return func(settings accounts.Settings) jsonapi.Resource {
		return jsonapi.Resource{ID: current, Type: kind, Attributes: settings}
	}
}

func (c *call) replaceSettings(kind string, replace func(accounts.SettingsDraft, changes.Match[accounts.Settings]) (accounts.Settings, error)) (reply, error) {
	object, err := c.settingsObject(kind)
	if err != nil {
		return failed(err)
	}
	draft := accounts.SettingsDraft{
		Order: object.Strings("environment_order"),
		Other: object.Without("environment_order"),
	}
	draft.Problems = *object.Problems()
	settings, err := replace(draft, ifMatch(c, settingsResource(kind)))
	return c.settings(settings, err, kind)
}

// settingsObject reads the settings that were sent, with or without an envelope.
func (c *call) settingsObject(kind string) (*jsonapi.Object, error) {
	text, err := jsonapi.ReadBody(c.writer, c.request)
	if err != nil {
		return nil, err
	}
	if c.wantsBare() && !c.sendsEnvelope(text) {
		return jsonapi.ParseObject(text)
	}
	envelope, err := jsonapi.ParseEnvelope(text, kind)
	if err != nil {
		return nil, err
	}
	envelope.RequireID(current, func(sent string) string { return sent })
	return envelope.Attributes, nil
}

// sendsEnvelope tells whether a body is called an envelope and is one, whatever
// answer is wanted: many HTTP libraries accept plain JSON unasked.
func (c *call) sendsEnvelope(text []byte) bool {
	if mediaType(c.request.Header.Get("Content-Type")) != jsonapi.MediaType {
		return false
	}
	body, err := jsonapi.ParseObject(text)
	if err != nil {
		return false
	}
	data, sent := body.Object("data").Get()
	return sent && slices.Contains(data.Names(), "attributes")
}

// wantsBare tells whether a caller speaks plain JSON about settings: it names
// application/json in Accept, or in Content-Type without naming a type in Accept.
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
