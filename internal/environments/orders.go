package environments

import (
	"context"
	"slices"
)

// Orders is where an account's environments are ordered: for everybody, and
// for each user who has an order of their own.
type Orders struct {
	Account []string
	Users   map[string][]string
}

// changeOrders changes the account's order and, with ofUsers, those of its users.
func changeOrders(ctx context.Context, tx Tx, account string, ofUsers bool, change func([]string) []string) error {
	orders, err := tx.EnvironmentOrders(ctx, account)
	if err != nil {
		return err
	}
	for user, order := range orders.Users {
		if changed := change(order); ofUsers && !slices.Equal(order, changed) {
			if err := tx.SetUserOrder(ctx, account, user, changed); err != nil {
				return err
			}
		}
	}
	if changed := change(orders.Account); !slices.Equal(orders.Account, changed) {
		return tx.SetAccountOrder(ctx, account, changed)
	}
	return nil
}

// with returns the change that appends an environment where it is missing.
func with(key string) func([]string) []string {
	return func(order []string) []string {
		if slices.Contains(order, key) {
			return order
		}
		return append(slices.Clone(order), key)
	}
}

// without returns the change that removes an environment.
func without(key string) func([]string) []string {
	return func(order []string) []string {
		return slices.DeleteFunc(slices.Clone(order), func(each string) bool { return each == key })
	}
}
