package signalbox

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// Role is the set of rights of a key. A role includes every weaker role.
type Role string

// The roles, strongest first.
const (
	RoleOwner  Role = "OWNER"
	RoleAdmin  Role = "ADMIN"
	RoleMember Role = "MEMBER"
	RoleViewer Role = "VIEWER"
)

// KeyStatus says whether a key works.
type KeyStatus string

// The states of a key. A revoked key never works again.
const (
	KeyActive  KeyStatus = "ACTIVE"
	KeyRevoked KeyStatus = "REVOKED"
)

// KeyAccess is the purpose for which a key may be used.
type KeyAccess string

// The kinds of access. [AccessEvaluate] allows only the evaluation of flags by OFREP, in one environment: a key in a
// browser should have it. [AccessLevels] allows only reading the level files of one environment: a key in a URL should
// have it.
const (
	AccessFull     KeyAccess = "full"
	AccessEvaluate KeyAccess = "evaluate"
	AccessLevels   KeyAccess = "levels"
)

// Key is an API key.
type Key struct {
	Resource
	Name   string    `json:"name"`
	Role   Role      `json:"role"`
	Status KeyStatus `json:"status"`
	Access KeyAccess `json:"access"`
	Scopes KeyScopes `json:"scopes"`
	// ExpiresAt is when the key stops working; nil is never.
	ExpiresAt *time.Time `json:"expires_at"`
	// LastUsedAt is approximately when the key was last used; nil is never.
	LastUsedAt *time.Time `json:"last_used_at"`
	// CreatedBy is the id of the user who created the key.
	CreatedBy string `json:"created_by"`
	Timestamps
	// Secret authenticates a caller. Only the response to Create has it.
	Secret string `json:"key"`
}

// KeyScopes restrict a key.
type KeyScopes struct {
	// Environments limits the key to writing the values of these environments; nil does not restrict.
	Environments []string `json:"environments,omitempty"`
	// Origins limits a key that evaluates to web pages of these origins, such as https://shop.example; nil is any.
	Origins []string `json:"origins,omitempty"`
}

// KeyDraft creates or changes a key. Unlike in other drafts, an empty or nil member keeps the stored value: renaming a key
// must not make it more powerful.
type KeyDraft struct {
	Name string
	// An empty Role keeps the current role; a new key is a MEMBER.
	Role Role
	// An empty Access keeps the current access; a new key has full access. The other kinds of access need exactly one
	// environment in Scopes.
	Access KeyAccess
	// Nil Scopes keep the current scopes; a new key is unrestricted. A pointer to the zero value removes the
	// restriction.
	Scopes *KeyScopes
	// A nil ExpiresAt keeps the current expiry; a new key never expires. A pointer to the zero time removes the expiry.
	ExpiresAt *time.Time
}

// KeyParams select a page of keys.
type KeyParams struct{ Paging }

// KeysAPI manages the API keys of the account. Only Create returns a secret.
type KeysAPI struct{ keys collection[Key, *Key] }

// Draft returns a draft of the key's current state.
func (k Key) Draft() KeyDraft {
	return KeyDraft{Name: k.Name, Role: k.Role, Access: k.Access, Scopes: &k.Scopes, ExpiresAt: k.ExpiresAt}
}

// MarshalJSON leaves out empty and nil members, and writes null for an expiry at the zero time.
func (d KeyDraft) MarshalJSON() ([]byte, error) {
	members := map[string]any{"name": d.Name}
	if d.Role != "" {
		members["role"] = d.Role
	}
	if d.Access != "" {
		members["access"] = d.Access
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

// Get returns a key without its secret. [IsNotFound] reports that there is no key with this id. Any role may read.
func (a KeysAPI) Get(ctx context.Context, id string) (Key, error) { return a.keys.get(ctx, id) }

// Current returns the key that the client uses. [IsNotFound] reports that the client uses a person's session instead of
// a key. Any role may read.
func (a KeysAPI) Current(ctx context.Context) (Key, error) { return a.keys.get(ctx, current) }

// List returns one page of keys without their secrets, revoked and expired ones included, by default in the order of
// their names. [Paging.Sort] takes name, status, created_at, expires_at and last_used_at. Any role may read.
func (a KeysAPI) List(ctx context.Context, params KeyParams) (Page[Key], error) {
	return a.keys.list(ctx, params)
}

// All iterates over every key, starting at the page of params. It ends after the first error.
func (a KeysAPI) All(ctx context.Context, params KeyParams) iter.Seq2[Key, error] {
	return a.keys.all(ctx, params)
}

// Create creates a key. Only its response has the secret. It needs the role ADMIN, and the new key's role cannot be
// stronger than the caller's.
func (a KeysAPI) Create(ctx context.Context, draft KeyDraft, options ...WriteOption) (Key, error) {
	return a.keys.create(ctx, "", draft, options)
}

// Replace renames a key, or changes its role, scopes or expiry. It needs the role ADMIN, or OWNER for an OWNER's key.
func (a KeysAPI) Replace(ctx context.Context, id string, draft KeyDraft, options ...WriteOption) (Key, error) {
	return a.keys.replace(ctx, id, draft, options)
}

// Revoke disables a key forever; revoking it again changes nothing. It needs the role ADMIN, or OWNER for an OWNER's key.
func (a KeysAPI) Revoke(ctx context.Context, id string) (Key, error) {
	return fetch[Key](ctx, a.keys.transport, post(nil, a.keys.path, id, "actions", "revoke"))
}

// Delete deletes a key, which stops working. It needs the role ADMIN, or OWNER for an OWNER's key.
func (a KeysAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	return a.keys.delete(ctx, id, options)
}
