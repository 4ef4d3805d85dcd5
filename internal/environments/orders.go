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

func addToAccountOrder(ctx context.Context, tx Tx, account, key string) error {
	orders, err := tx.EnvironmentOrders(ctx, account)
	if err != nil || slices.Contains(orders.Account, key) {
		return err
	}
	return tx.SetAccountOrder(ctx, account, append(orders.Account, key))
}

func addToOrders(ctx context.Context, tx Tx, account, key string) error {
	orders, err := tx.EnvironmentOrders(ctx, account)
	if err != nil {
		return err
	}
	for user, order := range orders.Users {
		if slices.Contains(order, key) {
			continue
		}
		if err := tx.SetUserOrder(ctx, account, user, append(order, key)); err != nil {
			return err
		}
	}
	return addToAccountOrder(ctx, tx, account, key)
}

func removeFromAccountOrder(ctx context.Context, tx Tx, account, key string) error {
	orders, err := tx.EnvironmentOrders(ctx, account)
	if err != nil {
		return err
	}
	return tx.SetAccountOrder(ctx, account, without(orders.Account, key))
}

func removeFromOrders(ctx context.Context, tx Tx, account, key string) error {
	orders, err := tx.EnvironmentOrders(ctx, account)
	if err != nil {
		return err
	}
	for user, order := range orders.Users {
		if !slices.Contains(order, key) {
			continue
		}
		if err := tx.SetUserOrder(ctx, account, user, without(order, key)); err != nil {
			return err
		}
	}
	return removeFromAccountOrder(ctx, tx, account, key)
}

func without(order []string, key string) []string {
	return slices.DeleteFunc(order, func(each string) bool { return each == key })
}
