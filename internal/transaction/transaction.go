// Package transaction runs a function in one transaction of the store and
// returns its result. The store decides what a transaction is; a domain
// package decides, with its own ReadTx and Tx interfaces, what it can do.
package transaction

import "context"

// Reader runs functions in transactions that read.
type Reader[Tx any] interface {
	Read(ctx context.Context, fn func(context.Context, Tx) error) error
}

// Writer runs functions in transactions that hold an account's lock.
type Writer[Tx any] interface {
	Write(ctx context.Context, account string, fn func(context.Context, Tx) error) error
}

// Store runs the transactions of a domain package.
type Store[ReadTx, Tx any] interface {
	Reader[ReadTx]
	Writer[Tx]
}

// Read runs fn in a transaction that reads and returns its result.
func Read[Tx, T any](ctx context.Context, store Reader[Tx], fn func(context.Context, Tx) (T, error)) (found T, err error) {
	err = store.Read(ctx, func(ctx context.Context, tx Tx) error {
		found, err = fn(ctx, tx)
		return err
	})
	return found, err
}

// Write runs fn in a transaction under the account's lock and returns its
// result.
func Write[Tx, T any](ctx context.Context, store Writer[Tx], account string, fn func(context.Context, Tx) (T, error)) (made T, err error) {
	err = store.Write(ctx, account, func(ctx context.Context, tx Tx) error {
		made, err = fn(ctx, tx)
		return err
	})
	return made, err
}

// dryRun is the context key of a dry run.
type dryRun struct{}

// DryRun returns a context whose writes do everything and are then rolled back instead of committed. A write that would
// have worked returns its result as if it had been.
func DryRun(ctx context.Context) context.Context { return context.WithValue(ctx, dryRun{}, true) }

// IsDryRun reports whether ctx is that of a dry run.
func IsDryRun(ctx context.Context) bool { return ctx.Value(dryRun{}) != nil }

// Kept reports whether a write that returned err changed anything. What follows a write in memory, such as waking a loop,
// must not follow a dry run.
func Kept(ctx context.Context, err error) bool { return err == nil && !IsDryRun(ctx) }
