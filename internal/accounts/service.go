package accounts

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/transaction"
)

// Store runs the transactions in which accounts are read and written.
type Store = transaction.Store[ReadTx, Tx]

// ReadTx is what this package reads.
type ReadTx interface {
	Now() time.Time
	Account(ctx context.Context, id string) (Account, error)
	AccountSettings(ctx context.Context, account string) (Settings, error)
	User(ctx context.Context, account, id string) (User, error)
	UserSettings(ctx context.Context, account, user string) (Settings, error)
	Key(ctx context.Context, account, id string) (Key, error)
	Keys(ctx context.Context, account string, filter KeyFilter, request page.Request) (page.List[Key], error)
	// KnownEnvironments returns which of the given environments exist.
	KnownEnvironments(ctx context.Context, account string, keys []string) (map[string]bool, error)
}

// FoundingTx is what creating an account writes.
type FoundingTx interface {
	changes.Recorder
	Now() time.Time
	InsertAccount(ctx context.Context, account Account) error
	InsertUser(ctx context.Context, user User) error
	InsertKey(ctx context.Context, key Key) error
}

// Tx is what this package reads and writes in one transaction.
type Tx interface {
	ReadTx
	FoundingTx
	UpdateAccount(ctx context.Context, account Account) error
	SetAccountSettings(ctx context.Context, account string, settings Settings) error
	SetUserSettings(ctx context.Context, account, user string, settings Settings) error
	UpdateKey(ctx context.Context, key Key) error
	DeleteKey(ctx context.Context, account, id string) error
}

// Service is the accounts' rules on top of a Store.
type Service struct {
	Store Store
}
