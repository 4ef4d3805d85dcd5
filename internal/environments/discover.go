package environments

import (
	"context"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
)

// Discoverable returns the new environments that a report may create, and how many new ones it
// may not create because of the cap. known has every environment of the account.
func Discoverable(known map[string]bool, keys []string) (created []string, dropped int) {
	for _, key := range keys {
		_, exists := known[key]
		switch {
		case exists:
		case len(known)+len(created) >= maxReported:
			dropped++
		default:
			created = append(created, key)
		}
	}
	return created, dropped
}

// Discover creates the environments of a report. They are AD_HOC and unmanaged, so
// they take no slot of the plan.
func Discover(ctx context.Context, tx FoundingTx, caller accounts.Caller, keys []string) error {
	made, edits := make([]Environment, len(keys)), make([]changes.Edit[Environment], len(keys))
	for i, key := range keys {
		made[i] = Environment{Account: caller.Account, Key: key, Name: key, Classification: AdHoc, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
		edits[i] = changes.Edit[Environment]{Key: key, After: &made[i]}
	}
	if err := tx.InsertEnvironments(ctx, made...); err != nil {
		return err
	}
	return changes.RecordEach(ctx, tx, caller.Account, caller.Actor(), "", Kind, edits)
}
