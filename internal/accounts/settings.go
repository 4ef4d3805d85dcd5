package accounts

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/rawjson"
	"github.com/signalbox/signalbox/internal/transaction"
)

// The JSON:API types of settings. Their id is always "current".
const (
	KindAccountSettings = "account_settings"
	KindUserSettings    = "user_settings"
)

// maxSettings bounds a settings object, which is for preferences and not for data.
const maxSettings = 256 << 10

// Settings is a JSON object of free members and one typed member, environment_order.
type Settings struct {
	// Order is environment_order: the order in which a person sees the environments. A user with a nil Order
	// gets the account's order.
	Order []string
	// Other is a JSON object with all members except environment_order.
	Other json.RawMessage
}

// MarshalJSON writes the object with environment_order as its first member.
func (s Settings) MarshalJSON() ([]byte, error) {
	order := s.Order
	if order == nil {
		order = []string{}
	}
	list, err := json.Marshal(order)
	if err != nil {
		return nil, err
	}
	document := append([]byte(`{"environment_order":`), list...)
	members := bytes.TrimSpace(bytes.Trim(bytes.TrimSpace(s.Other), "{}"))
	if len(members) > 0 {
		document = append(document, ',')
		return append(document, bytes.TrimSpace(s.Other)[1:]...), nil
	}
	return append(document, '}'), nil
}

// SettingsDraft has the settings that a caller asks for.
type SettingsDraft struct {
	Order optional.Value[[]string]
	// Other is a JSON object with all members except environment_order.
	Other    json.RawMessage
	Problems fault.Problems
}

// AccountSettings returns the settings of the caller's account.
func (s *Service) AccountSettings(ctx context.Context, caller Caller) (Settings, error) {
	return transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (Settings, error) { return tx.AccountSettings(ctx, caller.Account) })
}

// UserSettings returns the settings of the caller's user, with the account's order if the user has none.
func (s *Service) UserSettings(ctx context.Context, caller Caller) (Settings, error) {
	return transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (Settings, error) {
		user, err := currentUser(ctx, tx, caller)
		if err != nil {
			return Settings{}, err
		}
		return userSettings(ctx, tx, user)
	})
}

func userSettings(ctx context.Context, tx ReadTx, user User) (Settings, error) {
	settings, err := tx.UserSettings(ctx, user.Account, user.ID)
	if err != nil {
		return Settings{}, err
	}
	return settings.following(ctx, tx, user.Account)
}

// following returns the settings of a user, with the account's order if the user has none.
func (s Settings) following(ctx context.Context, tx ReadTx, account string) (Settings, error) {
	if s.Order != nil {
		return s, nil
	}
	shared, err := tx.AccountSettings(ctx, account)
	s.Order = shared.Order
	return s, err
}

// ReplaceAccountSettings replaces the account's settings. It requires ADMIN or OWNER.
func (s *Service) ReplaceAccountSettings(ctx context.Context, caller Caller, draft SettingsDraft, match changes.Match[Settings]) (Settings, error) {
	return Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller Caller) (Settings, error) {
		return replaceAccountSettings(ctx, tx, caller, draft, match)
	})
}

// RestoreAccountSettings undoes a change of the account's settings. draft has the earlier settings.
func (s *Service) RestoreAccountSettings(ctx context.Context, caller Caller, revert Revert, draft SettingsDraft) (changes.Change, error) {
	return Restore(ctx, s.Store, caller, revert, func(ctx context.Context, tx Tx, caller Caller) Restoration[Settings] {
		return Restoration[Settings]{Check: draft.Problems.Err, Replace: func() (Settings, error) { return replaceAccountSettings(ctx, tx, caller, draft, nil) }}
	})
}

func replaceAccountSettings(ctx context.Context, tx Tx, caller Caller, draft SettingsDraft, match changes.Match[Settings]) (Settings, error) {
	draft.Order = optional.Of(draft.Order.Or(nil))
	checkStaleFlags(&draft.Problems, draft.Other)
	return replaceSettings(ctx, tx, caller, KindAccountSettings, "current", draft, match,
		func() (Settings, error) { return tx.AccountSettings(ctx, caller.Account) },
		func(settings Settings) error { return tx.SetAccountSettings(ctx, caller.Account, settings) })
}

// ReplaceUserSettings replaces the settings of the caller's user. If environment_order is absent, the user
// follows the account's order again.
func (s *Service) ReplaceUserSettings(ctx context.Context, caller Caller, draft SettingsDraft, match changes.Match[Settings]) (Settings, error) {
	return Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller Caller) (Settings, error) {
		user, err := currentUser(ctx, tx, caller)
		if err != nil {
			return Settings{}, err
		}
		return replaceUserSettings(ctx, tx, caller, user.ID, draft, match)
	})
}

// RestoreUserSettings undoes a change of the settings of the caller's user. draft has the settings before
// the change. Settings of other users are Forbidden.
func (s *Service) RestoreUserSettings(ctx context.Context, caller Caller, revert Revert, draft SettingsDraft) (changes.Change, error) {
	return Restore(ctx, s.Store, caller, revert, func(ctx context.Context, tx Tx, caller Caller) Restoration[Settings] {
		user, err := currentUser(ctx, tx, caller)
		if (err == nil || fault.Is(err, fault.NotFound)) && user.ID != revert.Change.Key {
			err = fault.New(fault.Forbidden, "These are the settings of another user. Only that user can revert them.")
		}
		return Restoration[Settings]{Found: err, Check: draft.Problems.Err,
			Replace: func() (Settings, error) { return replaceUserSettings(ctx, tx, caller, user.ID, draft, nil) }}
	})
}

func replaceUserSettings(ctx context.Context, tx Tx, caller Caller, user string, draft SettingsDraft, match changes.Match[Settings]) (Settings, error) {
	return replaceSettings(ctx, tx, caller, KindUserSettings, user, draft, match,
		func() (Settings, error) { return tx.UserSettings(ctx, caller.Account, user) },
		func(settings Settings) error { return tx.SetUserSettings(ctx, caller.Account, user, settings) })
}

func replaceSettings(ctx context.Context, tx Tx, caller Caller, kind, key string, draft SettingsDraft, match changes.Match[Settings],
	load func() (Settings, error), save func(Settings) error,
) (Settings, error) {
	stored, err := load()
	if err != nil {
		return Settings{}, err
	}
	// Replace checks the precondition before it returns an error of the draft.
	wanted, err := draft.settings(ctx, tx, caller.Account)
	target := changes.Target[Settings]{Account: caller.Account, Actor: caller.Actor(), Kind: kind, Key: key, Match: match,
		Load:   func() (Settings, error) { return stored.following(ctx, tx, caller.Account) },
		Hidden: func(_, _ Settings) bool { return stored.differs(wanted) }}
	return changes.Replace(ctx, tx, target, func(Settings) (Settings, error) {
		if err != nil {
			return Settings{}, err
		}
		return wanted.following(ctx, tx, caller.Account)
	}, func(_, _ Settings) error { return save(wanted) })
}

// differs reports whether two settings differ as stored. The history may show them as equal: one may follow
// the account's order while the other has an equal order of its own. The history also ignores a member named
// updated_at.
func (s Settings) differs(other Settings) bool {
	return (s.Order == nil) != (other.Order == nil) || !rawjson.Same(s.Other, other.Other)
}

// CurrentUser returns the calling user, or the user behind the caller's key.
func (s *Service) CurrentUser(ctx context.Context, caller Caller) (User, error) {
	return transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (User, error) { return currentUser(ctx, tx, caller) })
}

// currentUser returns the calling user, or the user who made the caller's key. If that user was deleted, a
// key with the role OWNER gets the account's oldest OWNER. Other keys get NotFound: they must not read or
// write the preferences of a user who did not make them.
func currentUser(ctx context.Context, tx ReadTx, caller Caller) (User, error) {
	user, err := tx.User(ctx, caller.Account, caller.UserID)
	if fault.Is(err, fault.NotFound) && !caller.IsPerson() && caller.Role == Owner {
		return FirstOwner(ctx, tx, caller.Account)
	}
	return user, err
}

// settings checks the draft and returns the settings to store. As clients expect, it drops unknown and
// repeated environments from the order.
func (d SettingsDraft) settings(ctx context.Context, tx Tx, account string) (Settings, error) {
	problems := d.Problems
	if len(d.Other) > maxSettings {
		problems.Add(fault.New(fault.Validation, "Settings may have at most %d bytes.", maxSettings).At(fault.Attribute("")))
	}
	if err := problems.Err(); err != nil {
		return Settings{}, err
	}
	settings := Settings{Other: d.Other}
	order, sent := d.Order.Get()
	if !sent {
		return settings, nil
	}
	known, err := tx.ManagedEnvironments(ctx, account)
	if err != nil {
		return Settings{}, err
	}
	settings.Order = []string{}
	for _, key := range order {
		if _, exists := known[key]; exists {
			settings.Order = append(settings.Order, key)
			delete(known, key)
		}
	}
	return settings, nil
}
