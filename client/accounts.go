package signalbox

import (
	"context"
	"encoding/json"
	"time"
)

const (
	accountKind         = "account"
	accountSettingsKind = "account_settings"
	userSettingsKind    = "user_settings"
	// current is the id of what there is one of for each caller.
	current = "current"
	// orderMember is the one member of settings that the server knows.
	orderMember = "environment_order"
)

// Account is a tenant: everything else belongs to exactly one.
type Account struct {
	Resource
	// Key names the account on the command line of the server.
	Key string `json:"key"`
	// Name is what people call it.
	Name string `json:"name"`
	// Plans has the plan of every product: jobs, flags, logging and config.
	Plans map[string]string `json:"plans"`
	// CreatedAt and UpdatedAt are when it was made and last changed.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// AccountDraft is what an account is to become. Its plans are the operator's
// to change.
type AccountDraft struct {
	// Name is what people call it.
	Name string `json:"name"`
	// Key stays as it is when it is empty.
	Key string `json:"key,omitempty"`
}

// User is a person of an account.
type User struct {
	Resource
	// Email is the address that the user is known by.
	Email string `json:"email"`
	// Name is what people call the user.
	Name string `json:"name"`
	// Role is what the user may do.
	Role Role `json:"role"`
	// CreatedAt and UpdatedAt are when the user was made and last changed.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Settings are the preferences of an account or of a user: a free JSON object
// of which the server knows one member.
type Settings struct {
	Resource
	// EnvironmentOrder are the environments that are shown, in order.
	EnvironmentOrder []string
	// Other has all other members.
	Other map[string]json.RawMessage
}

// SettingsDraft is what settings are to become. Members that it lacks are
// removed.
type SettingsDraft struct {
	// EnvironmentOrder are the environments to show, in order; the server
	// drops those that do not exist. A user with nil follows the account, an
	// account with nil shows none.
	EnvironmentOrder []string
	// Other has all other members.
	Other map[string]json.RawMessage
}

// AccountAPI is the account that the key belongs to.
type AccountAPI struct{ transport *transport }

// UserAPI is the user who made the key.
type UserAPI struct{ transport *transport }

// Draft is the draft that changes nothing.
func (a Account) Draft() AccountDraft { return AccountDraft{Name: a.Name, Key: a.Key} }

// Draft is the draft that changes nothing.
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
	if order, sent := members[orderMember]; sent {
		if err := json.Unmarshal(order, &s.EnvironmentOrder); err != nil {
			return err
		}
	}
	delete(members, orderMember)
	s.Other = members
	return nil
}

// MarshalJSON gives the object that the server takes.
func (d SettingsDraft) MarshalJSON() ([]byte, error) {
	members := map[string]any{}
	for name, member := range d.Other {
		members[name] = member
	}
	delete(members, orderMember) // it is typed, so the free form does not count
	if d.EnvironmentOrder != nil {
		members[orderMember] = d.EnvironmentOrder
	}
	return json.Marshal(members)
}

// Get gives the account.
func (a AccountAPI) Get(ctx context.Context) (Account, error) {
	return one[Account](ctx, a.transport, get("accounts", current))
}

// Replace changes the account's name and key. It needs the role ADMIN.
func (a AccountAPI) Replace(ctx context.Context, draft AccountDraft, options ...WriteOption) (Account, error) {
	return one[Account](ctx, a.transport, put(enclose(accountKind, current, draft), "accounts", current).with(options))
}

// Settings gives the account's settings.
func (a AccountAPI) Settings(ctx context.Context) (Settings, error) {
	return one[Settings](ctx, a.transport, get("accounts", current, "settings"))
}

// ReplaceSettings replaces the account's settings. It needs the role ADMIN.
func (a AccountAPI) ReplaceSettings(ctx context.Context, draft SettingsDraft, options ...WriteOption) (Settings, error) {
	body := enclose(accountSettingsKind, current, draft)
	return one[Settings](ctx, a.transport, put(body, "accounts", current, "settings").with(options))
}

// Get gives the user.
func (a UserAPI) Get(ctx context.Context) (User, error) {
	return one[User](ctx, a.transport, get("users", current))
}

// Settings gives the user's settings. A user without an order of their own has
// the account's in it.
func (a UserAPI) Settings(ctx context.Context) (Settings, error) {
	return one[Settings](ctx, a.transport, get("users", current, "settings"))
}

// ReplaceSettings replaces the user's settings.
func (a UserAPI) ReplaceSettings(ctx context.Context, draft SettingsDraft, options ...WriteOption) (Settings, error) {
	body := enclose(userSettingsKind, current, draft)
	return one[Settings](ctx, a.transport, put(body, "users", current, "settings").with(options))
}
