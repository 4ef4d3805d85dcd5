package changes

import "context"

// Reader gives transactions that read.
type Reader[Tx any] interface {
	Read(ctx context.Context, fn func(Tx) error) error
}

// Writer gives transactions that write, each under its account's lock.
type Writer[Tx any] interface {
	Write(ctx context.Context, account string, fn func(Tx) error) error
}

// Read runs one reading and gives what it found.
func Read[Tx, T any](ctx context.Context, store Reader[Tx], fn func(Tx) (T, error)) (found T, err error) {
	err = store.Read(ctx, func(tx Tx) error {
		found, err = fn(tx)
		return err
	})
	return found, err
}

// Write runs one transaction under the account's lock and gives what it made.
func Write[Tx, T any](ctx context.Context, store Writer[Tx], account string, fn func(Tx) (T, error)) (made T, err error) {
	err = store.Write(ctx, account, func(tx Tx) error {
		made, err = fn(tx)
		return err
	})
	return made, err
}
