package signalbox

import (
	"context"
	"encoding/json"
	"time"
)

const (
	// current is the id of the caller's own account, user and settings.
	current = "current"
	// orderMember is the member of settings that has the order of environments.
	orderMember = "environment_order"
)

// Account is a tenant: every other resource belongs to exactly one.
type Account struct {
	Resource
	// Key identifies the account on the server's command line.
	Key  string `json:"key"`
	Name string `json:"name"`
	// Plans has the plan of every product: jobs, flags, logging and config.
	Plans map[string]string `json:"plans"`
	// Limits maps the key of each limit, such as jobs.active_jobs, to the number that the plans allow; -1 is no limit.
	Limits map[string]int `json:"limits"`
	Timestamps
}

// AccountDraft changes the name and the key of an account. Only the operator changes plans.
type AccountDraft struct {
	Name string `json:"name"`
	// An empty Key keeps the current key.
	Key string `json:"key,omitempty"`
}

// User is a person of an account.
type User struct {
	Resource
	Email string `json:"email"`
	Name  string `json:"name"`
	Role  Role   `json:"role"`
	// CanSignIn reports whether the user has a password or has signed in with OpenID Connect.
	CanSignIn bool `json:"can_sign_in"`
	Timestamps
	// Link sets a new password and LinkExpiresAt is when it stops working. Only the response to ResetPassword has them.
	Link          string     `json:"link"`
	LinkExpiresAt *time.Time `json:"link_expires_at"`
}

// Settings are the preferences of an account or a user: any JSON object. The server interprets the order of
// environments and, of an account, stale_flags: after how many days a flag is stale, such as {"unevaluated_days": 30,
// "unchanged_days": 90}.
type Settings struct {
	Resource
	// EnvironmentOrder lists the environments that are shown, in order.
	EnvironmentOrder []string
	// Other has all other members.
	Other map[string]json.RawMessage
}

// SettingsDraft replaces settings. Members that it does not have are removed.
type SettingsDraft struct {
	// EnvironmentOrder lists the environments to show, in order; the server drops unknown environments. With nil, a user
	// has the account's order and an account has none.
	EnvironmentOrder []string
	// Other has all other members.
	Other map[string]json.RawMessage
}

// AccountAPI reads and changes the account that the key belongs to.
type AccountAPI struct{ transport *transport }

// UserAPI reads the user who created the key or signed in, and changes their settings.
type UserAPI struct{ transport *transport }

// Draft returns a draft of the account's current state.
func (a Account) Draft() AccountDraft { return AccountDraft{Name: a.Name, Key: a.Key} }

// Draft returns a draft of the current settings.
func (s Settings) Draft() SettingsDraft {
	return SettingsDraft{EnvironmentOrder: s.EnvironmentOrder, Other: s.Other}
}

// UnmarshalJSON reads the object that the server sends.
func (s *Settings) UnmarshalJSON(text []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	s.EnvironmentOrder = nil
	if order, ok := members[orderMember]; ok {
		if err := json.Unmarshal(order, &s.EnvironmentOrder); err != nil {
			return err
		}
	}
	delete(members, orderMember)
	s.Other = members
	return nil
}

// MarshalJSON writes one object. EnvironmentOrder wins over a member of that name in Other.
func (d SettingsDraft) MarshalJSON() ([]byte, error) {
	members := map[string]any{}
	for name, member := range d.Other {
		members[name] = member
	}
	delete(members, orderMember)
	if d.EnvironmentOrder != nil {
		members[orderMember] = d.EnvironmentOrder
	}
	return json.Marshal(members)
}

// Get returns the account.
func (a AccountAPI) Get(ctx context.Context) (Account, error) {
	return fetch[Account](ctx, a.transport, get("accounts", current))
}

// Replace changes the account's name and key. It needs the role ADMIN.
func (a AccountAPI) Replace(ctx context.Context, draft AccountDraft, options ...WriteOption) (Account, error) {
	return fetch[Account](ctx, a.transport, put(document("account", current, draft), "accounts", current).with(options))
}

// Settings returns the account's settings.
func (a AccountAPI) Settings(ctx context.Context) (Settings, error) {
	return fetch[Settings](ctx, a.transport, get("accounts", current, "settings"))
}

// ReplaceSettings replaces the account's settings. It needs the role ADMIN.
func (a AccountAPI) ReplaceSettings(ctx context.Context, draft SettingsDraft, options ...WriteOption) (Settings, error) {
	body := document("account_settings", current, draft)
	return fetch[Settings](ctx, a.transport, put(body, "accounts", current, "settings").with(options))
}

// Get returns the user.
func (a UserAPI) Get(ctx context.Context) (User, error) {
	return fetch[User](ctx, a.transport, get("users", current))
}

// Settings returns the user's settings, with the account's environment order if the user has none.
func (a UserAPI) Settings(ctx context.Context) (Settings, error) {
	return fetch[Settings](ctx, a.transport, get("users", current, "settings"))
}

// ReplaceSettings replaces the user's settings.
func (a UserAPI) ReplaceSettings(ctx context.Context, draft SettingsDraft, options ...WriteOption) (Settings, error) {
	body := document("user_settings", current, draft)
	return fetch[Settings](ctx, a.transport, put(body, "users", current, "settings").with(options))
}

// ChangePassword changes the password of the signed-in person and ends their other sessions. An API key may not call it.
func (a UserAPI) ChangePassword(ctx context.Context, old, password string, options ...WriteOption) (User, error) {
	body := document("password", "", map[string]string{"current_password": old, "password": password})
	return fetch[User](ctx, a.transport, put(body, "users", current, "password").with(options))
}
