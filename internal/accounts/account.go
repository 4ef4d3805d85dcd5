package accounts

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/transaction"
)

// KindAccount is the JSON:API type of an account.
const KindAccount = "account"

// maxName bounds every display name.
const maxName = 255

var accountKey = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,99}$`)

// Account is a tenant. Every other resource belongs to exactly one account.
type Account struct {
	ID        string     `json:"-"`
	Key       string     `json:"key"`
	Name      string     `json:"name"`
	Plans     plans.Held `json:"plans"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
}

// AccountDraft is the state of an account that a caller asks for.
type AccountDraft struct {
	Name  optional.Value[string]
	Key   optional.Value[string]
	Plans optional.Value[plans.Held]
	// Problems are the problems found while reading the input.
	Problems fault.Problems
}

// Found creates an account with its owner and the owner's first key. The plaintext of the
// key is only in this result.
func Found(ctx context.Context, tx FoundingTx, name string, held plans.Held, secret Secret) (Account, Key, error) {
	var problems fault.Problems
	naming.RequireName(&problems, optional.Of(name), maxName)
	if err := problems.Err(); err != nil {
		return Account{}, Key{}, err
	}
	now := tx.Now()
	account := Account{ID: newID(), Key: slug(name), Name: name, Plans: held, CreatedAt: now, UpdatedAt: now}
	if err := tx.InsertAccount(ctx, account); err != nil {
		return Account{}, Key{}, err
	}
	owner := User{ID: newID(), Account: account.ID, Email: "owner@" + account.Key, Name: "Owner", Role: Owner,
		CreatedAt: now, UpdatedAt: now}
	if err := tx.InsertUser(ctx, owner); err != nil {
		return Account{}, Key{}, err
	}
	if err := changes.Record(ctx, tx, account.ID, changes.Operator(), KindAccount, account.ID, nil, &account); err != nil {
		return Account{}, Key{}, err
	}
	key := Key{ID: newID(), Account: account.ID, Name: "Owner key", Role: Owner, Status: Active, Access: FullAccess,
		CreatedBy: owner.ID, CreatedAt: now, UpdatedAt: now, Plaintext: secret.text, Hash: secret.Hash()}
	return account, key, insertKey(ctx, tx, changes.Operator(), key)
}

// Account returns the caller's account.
func (s *Service) Account(ctx context.Context, caller Caller) (Account, error) {
	return transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (Account, error) { return tx.Account(ctx, caller.Account) })
}

// ReplaceAccount changes the account's name and key. Only the operator changes plans, so a
// draft with different plans is refused. It requires ADMIN or OWNER.
func (s *Service) ReplaceAccount(ctx context.Context, caller Caller, draft AccountDraft, match changes.Match[Account]) (Account, error) {
	if err := draft.validate(); err != nil {
		return Account{}, err
	}
	return Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller Caller) (Account, error) {
		return draft.replace(ctx, tx, caller, match)
	})
}

// RestoreAccount undoes a change of the account. draft is the state before the change.
func (s *Service) RestoreAccount(ctx context.Context, caller Caller, revert Revert, draft AccountDraft) (changes.Change, error) {
	return Restore(ctx, s.Store, caller, revert, func(ctx context.Context, tx Tx, caller Caller) Restoration[Account] {
		return Restoration[Account]{Check: draft.validate, Replace: func() (Account, error) { return draft.replace(ctx, tx, caller, nil) }}
	})
}

func (d *AccountDraft) replace(ctx context.Context, tx Tx, caller Caller, match changes.Match[Account]) (Account, error) {
	target := changes.Target[Account]{
		Account: caller.Account, Actor: caller.Actor(), Kind: KindAccount, Key: caller.Account, Match: match,
		Load: func() (Account, error) { return tx.Account(ctx, caller.Account) },
	}
	return changes.Replace(ctx, tx, target,
		func(before Account) (Account, error) { return d.over(before, tx.Now()) },
		func(_, after Account) error { return updateAccount(ctx, tx, after) })
}

// over returns the stored account with the members of the draft applied.
func (d *AccountDraft) over(account Account, now time.Time) (Account, error) {
	if held, sent := d.Plans.Get(); sent && !samePlans(held, account.Plans) {
		return Account{}, fault.New(fault.Forbidden,
			"Plans are changed by the operator of this server, with signalbox admin accounts plan.").At(fault.Attribute("plans"))
	}
	account.Name, account.Key, account.UpdatedAt = d.Name.Or(account.Name), d.Key.Or(account.Key), now
	return account, nil
}

func updateAccount(ctx context.Context, tx Tx, account Account) error {
	err := tx.UpdateAccount(ctx, account)
	if fault.Is(err, fault.AlreadyExists) {
		err = fault.New(fault.AlreadyExists, "Another account has the key %q.", account.Key).At(fault.Attribute("key"))
	}
	return err
}

// SetPlans changes the plans of an account on behalf of the operator.
func SetPlans(ctx context.Context, tx Tx, id string, held plans.Held) (Account, error) {
	target := changes.Target[Account]{
		Account: id, Actor: changes.Operator(), Kind: KindAccount, Key: id,
		Load: func() (Account, error) { return tx.Account(ctx, id) },
	}
	return changes.Replace(ctx, tx, target, func(account Account) (Account, error) {
		account.Plans, account.UpdatedAt = held, tx.Now()
		return account, nil
	}, func(_, after Account) error { return tx.UpdateAccount(ctx, after) })
}

// TakeSlot refuses one more resource of a kind if the account has reached its plan's limit.
func TakeSlot(ctx context.Context, table plans.Table, id string, limit plans.Limit,
	find func(ctx context.Context, id string) (Account, error), count func(ctx context.Context, id string) (int, error),
) error {
	account, err := find(ctx, id)
	if err != nil {
		return err
	}
	current, err := count(ctx, id)
	if err != nil {
		return err
	}
	return table.Entitlement(account.Plans, limit).Take(current)
}

func (d *AccountDraft) validate() error {
	naming.RequireName(&d.Problems, d.Name, maxName)
	if key, sent := d.Key.Get(); sent && !accountKey.MatchString(key) {
		d.Problems.Attribute("key", "must be 1 to 100 lower-case letters, digits, dots, underscores or hyphens and start with a letter or digit")
	}
	return d.Problems.Err()
}

func samePlans(sent, held plans.Held) bool {
	for product, plan := range sent {
		if held[product] != plan {
			return false
		}
	}
	return true
}

var notInSlug = regexp.MustCompile(`[^a-z0-9]+`)

// slug turns a name into a key: "Acme, Inc." becomes "acme-inc". A name without a
// usable letter or digit gets a random key.
func slug(name string) string {
	key := strings.Trim(notInSlug.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if key == "" {
		return fmt.Sprintf("account-%s", newID()[24:])
	}
	return key[:min(len(key), 100)]
}

// newID returns a new id. Ids sort by creation time.
func newID() string { return uuid.Must(uuid.NewV7()).String() }
