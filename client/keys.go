package signalbox

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

const (
	keyKind        = "api_key"
	keysCollection = "api_keys"
)

// Role is what a key may do. Each role may do what the ones after it may.
type Role string

// The roles, from the strongest to the weakest.
const (
	RoleOwner  Role = "OWNER"
	RoleAdmin  Role = "ADMIN"
	RoleMember Role = "MEMBER"
	RoleViewer Role = "VIEWER"
)

// KeyStatus tells whether a key works.
type KeyStatus string

// The states of a key. A revoked key never works again.
const (
	KeyActive  KeyStatus = "ACTIVE"
	KeyRevoked KeyStatus = "REVOKED"
)

// Key is an API key.
type Key struct {
	Resource
	// Name is what people call it.
	Name string `json:"name"`
	// Role is what it may do.
	Role Role `json:"role"`
	// Status tells whether it works.
	Status KeyStatus `json:"status"`
	// Scopes are what it is restricted to.
	Scopes KeyScopes `json:"scopes"`
	// ExpiresAt is when it stops working; nil means never.
	ExpiresAt *time.Time `json:"expires_at"`
	// LastUsedAt is about when it was last used; nil means never.
	LastUsedAt *time.Time `json:"last_used_at"`
	// CreatedBy is the id of the user who made it.
	CreatedBy string `json:"created_by"`
	// CreatedAt and UpdatedAt are when it was made and last changed.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// Secret is what a caller authenticates with. The server tells it once, in
	// the answer to Create; it is empty everywhere else.
	Secret string `json:"key"`
}

// KeyScopes restrict a key.
type KeyScopes struct {
	// Environments are those whose values the key may write, and the key may
	// write nothing else; nil does not restrict.
	Environments []string `json:"environments,omitempty"`
}

// KeyDraft is what a key is to become. Unlike other drafts it leaves what it
// does not name: a key that is renamed must not become more powerful by it.
type KeyDraft struct {
	// Name is what people call it.
	Name string
	// Role stays as it is when it is empty; a new key is a MEMBER then.
	Role Role
	// Scopes stay as they are when they are nil; a new key is not restricted
	// then. A pointer to the zero value removes the restriction.
	Scopes *KeyScopes
	// ExpiresAt stays as it is when it is nil; a new key never expires then. A
	// pointer to the zero time makes the key never expire.
	ExpiresAt *time.Time
}

// KeyParams choose keys.
type KeyParams struct{ Paging }

// KeysAPI is the API keys of the account.
type KeysAPI struct{ transport *transport }

// Draft is the draft that changes nothing.
func (k Key) Draft() KeyDraft {
	return KeyDraft{Name: k.Name, Role: k.Role, Scopes: &k.Scopes, ExpiresAt: k.ExpiresAt}
}

// MarshalJSON sends what the draft names, and null for an expiry at the zero
// time.
func (d KeyDraft) MarshalJSON() ([]byte, error) {
	members := map[string]any{"name": d.Name}
	if d.Role != "" {
		members["role"] = d.Role
	}
	if d.Scopes != nil {
		members["scopes"] = d.Scopes
	}
	switch {
	case d.ExpiresAt == nil:
	case d.ExpiresAt.IsZero():
		members["expires_at"] = nil
	default:
		members["expires_at"] = d.ExpiresAt
	}
	return json.Marshal(members)
}

// List gives one page of keys.
func (a KeysAPI) List(ctx context.Context, params KeyParams) (Page[Key], error) {
	return listed[Key](ctx, a.transport, params.query(), keysCollection)
}

// All gives every key from the page of the params on. It ends after the first
// error.
func (a KeysAPI) All(ctx context.Context, params KeyParams) iter.Seq2[Key, error] {
	return every(params.Paging, func(paging Paging) (Page[Key], error) { return a.List(ctx, KeyParams{paging}) })
}

// Get gives one key, without its secret.
func (a KeysAPI) Get(ctx context.Context, id string) (Key, error) {
	return one[Key](ctx, a.transport, get(keysCollection, id))
}

// Create makes a key and gives its secret, once. It needs the role ADMIN, and
// no key makes one that is stronger than itself.
func (a KeysAPI) Create(ctx context.Context, draft KeyDraft) (Key, error) {
	return one[Key](ctx, a.transport, post(enclose(keyKind, "", draft), keysCollection))
}

// Replace renames a key, or changes its role, scopes or expiry. It needs the
// role ADMIN; only an OWNER changes an OWNER's key.
func (a KeysAPI) Replace(ctx context.Context, id string, draft KeyDraft, options ...WriteOption) (Key, error) {
	return one[Key](ctx, a.transport, put(enclose(keyKind, id, draft), keysCollection, id).with(options))
}

// Revoke makes a key useless for ever; to revoke it again changes nothing. It
// needs the role ADMIN; only an OWNER revokes an OWNER's key.
func (a KeysAPI) Revoke(ctx context.Context, id string) (Key, error) {
	r := post(nil, keysCollection, id, "actions", "revoke")
	r.repeatable = true
	return one[Key](ctx, a.transport, r)
}

// Delete removes a key; it stops working like a revoked one. It needs the role
// ADMIN; only an OWNER deletes an OWNER's key.
func (a KeysAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	_, err := a.transport.call(ctx, remove(keysCollection, id).with(options), nil)
	return err
}
