package api

import (
	"context"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/optional"
)

func keyResource() resource[accounts.Key, accounts.KeyDraft, accounts.KeyFilter] {
	return describe(accounts.KindKey, showKey, keyFilter, keyDraft)
}

func keyFilter(c *call) accounts.KeyFilter { return accounts.KeyFilter{Search: c.query.Search()} }

func showKey(key accounts.Key) (id string, attributes any) {
	return key.ID, keyAttributes{Key: key, Plaintext: key.Plaintext}
}

// keyAttributes is a key as callers see it.
type keyAttributes struct {
	accounts.Key
	// Plaintext is only in the answer to the creation.
	Plaintext string `json:"key,omitempty"`
}

// Definition returns the key without its last use and its plaintext.
func (k keyAttributes) Definition() any {
	definition := k.Key
	definition.LastUsedAt = nil
	return definition
}

func keyDraft(envelope *jsonapi.Envelope) accounts.KeyDraft {
	attributes := envelope.Attributes
	draft := accounts.KeyDraft{
		Name:      attributes.String("name"),
		Role:      attributes.String("role"),
		Access:    attributes.String("access"),
		Scopes:    keyScopes(attributes),
		ExpiresAt: attributes.Time("expires_at"),
	}
	attributes.Know("key") // callers may send the response of a creation back
	draft.Problems = envelope.Done()
	return draft
}

// keyScopes reads the scopes. An unknown member is refused: a misspelled restriction must not
// create an unrestricted key.
func keyScopes(attributes *jsonapi.Object) optional.Value[accounts.Scopes] {
	object := attributes.Object("scopes", `{"environments": ["staging"]}`)
	if object.IsNull() {
		return optional.Null[accounts.Scopes]()
	}
	scopes, sent := object.Get()
	if !sent {
		return optional.Value[accounts.Scopes]{}
	}
	scopes.Unknown("environments", "origins")
	return optional.Of(accounts.Scopes{Environments: scopes.Strings("environments").Or(nil), Origins: scopes.Strings("origins").Or(nil)})
}

func (a *API) createKey(ctx context.Context, caller accounts.Caller, draft accounts.KeyDraft) (accounts.Key, error) {
	key, err := a.Accounts.CreateKey(ctx, caller, draft)
	if err == nil {
		a.Auth.Expect(key.Plaintext) // in a dry run too, where it does no harm
	}
	return key, err
}

func (a *API) replaceKey(
	ctx context.Context, caller accounts.Caller, id string, draft accounts.KeyDraft, match changes.Match[accounts.Key],
) (accounts.Key, error) {
	defer a.Auth.Forget(id)
	return a.Accounts.ReplaceKey(ctx, caller, id, draft, match)
}

func (a *API) revokeKey(ctx context.Context, caller accounts.Caller, id string) (accounts.Key, error) {
	defer a.Auth.Forget(id)
	return a.Accounts.RevokeKey(ctx, caller, id)
}

func (a *API) deleteKey(ctx context.Context, caller accounts.Caller, id string, match changes.Match[accounts.Key]) error {
	defer a.Auth.Forget(id)
	return a.Accounts.DeleteKey(ctx, caller, id, match)
}
