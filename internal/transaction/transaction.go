// Package transaction runs a function in one transaction of the store and
// returns its result. The store decides what a transaction is. A domain package
// describes the methods it needs with its own ReadTx and Tx interfaces.
package transaction

import (
	"context"
	"errors"
)

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

// ErrDryRun is returned by a function that has worked and wants its writes rolled
// back. Write then returns no error, and functions given to AfterCommit are not called.
var ErrDryRun = errors.New("a dry run is rolled back")
