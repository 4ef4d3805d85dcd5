package manifest

import (
	"context"
	"fmt"
	"maps"
	"slices"

	signalbox "github.com/signalbox/signalbox/client"
)

// Owned returns the names of all resources that have an owner, such as flag:checkout-v2, with the owner of each.
func Owned(ctx context.Context, client *signalbox.Client) (map[string]string, error) {
	settings, err := client.Account.Settings(ctx)
	if err != nil {
		return nil, err
	}
	all, err := ownersOf(settings)
	owned := map[string]string{}
	for owner, names := range all {
		for _, name := range names {
			owned[name] = owner
		}
	}
	return owned, err
}

// Forget removes the owner of resources. The resources stay on the server.
func Forget(ctx context.Context, client *signalbox.Client, names []string, options ...signalbox.WriteOption) error {
	err := changeOwners(ctx, client, func(all owners) error {
		for owner := range maps.Clone(all) {
			all[owner] = slices.DeleteFunc(all[owner], func(name string) bool { return slices.Contains(names, name) })
		}
		return nil
	}, options...)
	if err != nil {
		return fmt.Errorf("removing owners from the account's settings: %w", err)
	}
	return nil
}
