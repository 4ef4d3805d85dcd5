package api

import (
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/optional"
)

// keyAttributes is a key as the interface shows it.
type keyAttributes struct {
	accounts.Key
	// Plaintext is there in the answer to the creation only.
	Plaintext string `json:"key,omitempty"`
}

// Definition is the key without what is only observed, and without what is
// only shown once.
func (k keyAttributes) Definition() any {
	definition := k.Key
	definition.LastUsedAt = nil
	return definition
}

func keyResource(k accounts.Key) jsonapi.Resource {
	return jsonapi.Resource{ID: k.ID, Type: accounts.KindKey, Attributes: keyAttributes{Key: k, Plaintext: k.Plaintext}}
}

func (a *API) keys(c *call) (reply, error) {
	request := c.query.Page()
	if err := c.query.Err(); err != nil {
		return failed(err)
	}
	list, err := a.Accounts.Keys(c.ctx(), c.caller, request)
	if err != nil {
		return failed(err)
	}
	return ok(jsonapi.NewCollection(list, request, keyResource))
}

func (a *API) key(c *call) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return failed(err)
	}
	key, err := a.Accounts.Key(c.ctx(), c.caller, id)
	return read(key, err, keyResource)
}

func keyDraft(envelope *jsonapi.Envelope) accounts.KeyDraft {
	attributes := envelope.Attributes
	draft := accounts.KeyDraft{
		Name:      attributes.String("name"),
		Role:      attributes.String("role"),
		Scopes:    keyScopes(attributes),
		ExpiresAt: keyExpiry(attributes),
	}
	draft.Problems = *envelope.Problems
	return draft
}

// keyScopes reads the scopes. A member that is not known is refused: a
// misspelled restriction must not make a key without one.
func keyScopes(attributes *jsonapi.Object) optional.Value[accounts.Scopes] {
	object := attributes.Object("scopes")
	if object.IsNull() {
		return optional.Null[accounts.Scopes]()
	}
	scopes, sent := object.Get()
	if !sent {
		return optional.Value[accounts.Scopes]{}
	}
	scopes.Unknown("environments")
	return optional.Of(accounts.Scopes{Environments: scopes.Strings("environments").Or(nil)})
}

func keyExpiry(attributes *jsonapi.Object) optional.Value[time.Time] {
	return attributes.Time("expires_at")
}

func (a *API) createKey(c *call) (reply, error) {
	envelope, err := c.envelope(accounts.KindKey)
	if err != nil {
		return failed(err)
	}
	key, err := a.Accounts.CreateKey(c.ctx(), c.caller, keyDraft(envelope))
	return created(key, err, keyResource)
}

func (a *API) replaceKey(c *call) (reply, error) {
	id, envelope, err := c.target(accounts.KindKey)
	if err != nil {
		return failed(err)
	}
	key, err := a.Accounts.ReplaceKey(c.ctx(), c.caller, id, keyDraft(envelope), ifMatch(c, keyResource))
	a.Auth.Forget(id)
	return read(key, err, keyResource)
}

func (a *API) revokeKey(c *call) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return failed(err)
	}
	if _, err := c.objectOrNothing(); err != nil {
		return failed(err)
	}
	key, err := a.Accounts.RevokeKey(c.ctx(), c.caller, id)
	a.Auth.Forget(id)
	return read(key, err, keyResource)
}

func (a *API) deleteKey(c *call) (reply, error) {
	id, err := c.id("id")
	if err != nil {
		return failed(err)
	}
	err = a.Accounts.DeleteKey(c.ctx(), c.caller, id, ifMatch(c, keyResource))
	a.Auth.Forget(id)
	return deleted(err)
}
