package accounts

import (
	"context"

	"github.com/signalbox/signalbox/internal/transaction"
)

// Get returns a resource of the caller's account. read is a method of the package's ReadTx, such as ReadTx.Flag.
func Get[Tx, T any](ctx context.Context, store transaction.Reader[Tx], caller Caller,
	read func(tx Tx, ctx context.Context, account, id string) (T, error), id string,
) (T, error) {
	return transaction.Read(ctx, store, func(ctx context.Context, tx Tx) (T, error) { return read(tx, ctx, caller.Account, id) })
}

// List returns a page of the caller's account. read is a method of the package's ReadTx, such as ReadTx.Flags.
func List[Tx, Filter, Request, Page any](ctx context.Context, store transaction.Reader[Tx], caller Caller,
	read func(tx Tx, ctx context.Context, account string, filter Filter, request Request) (Page, error), filter Filter, request Request,
) (Page, error) {
	return transaction.Read(ctx, store, func(ctx context.Context, tx Tx) (Page, error) {
		return read(tx, ctx, caller.Account, filter, request)
	})
}
