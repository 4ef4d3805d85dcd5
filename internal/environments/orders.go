package environments

import (
	"context"
	"slices"
)

// Orders has the account's order of environments, and the orders of users who have their own.
type Orders struct {
	Account []string
	Users   map[string][]string
}

// changeOrders changes the account's order. If ofUsers is true, it also changes the orders of its users.
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

// with returns a function that appends an environment to an order, unless the order has it.
func with(key string) func([]string) []string {
	return func(order []string) []string {
		if slices.Contains(order, key) {
			return order
		}
		return append(slices.Clone(order), key)
	}
}

// without returns a function that removes an environment from an order.
func without(key string) func([]string) []string {
	return func(order []string) []string {
		return slices.DeleteFunc(slices.Clone(order), func(each string) bool { return each == key })
	}
}
