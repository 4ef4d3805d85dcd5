package api

import (
	"cmp"
	"context"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/configs"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/webhooks"
)

// restorer undoes changes of one kind of resource. It reads the document before the
// change like the body of a write, and the service applies the same rules to it.
type restorer struct {
	needs   writeNeeds
	restore func(context.Context, accounts.Caller, accounts.Revert) (changes.Change, error)
}

// writeNeeds has the rights that the routes to create, replace and delete a resource
// require.
type writeNeeds map[changes.Action]accounts.Needs

// restorers returns the restorer of each kind whose changes can be undone. Missing
// kinds, such as keys and users, grant access, which must be decided anew each time.
func (a *API) restorers() map[string]restorer {
	managed, configured, valued := allWrites(manages()), allWrites(configures()), allWrites(configures())
	valued[changes.Updated] = writesValues().needs
	logger := writeNeeds{changes.Created: writesValues().needs, changes.Updated: writesValues().needs, changes.Deleted: configures().needs}
	reported := writeNeeds{changes.Updated: configures().needs, changes.Deleted: configures().needs}
	shared, own := writeNeeds{changes.Updated: manages().needs}, writeNeeds{changes.Updated: personal().needs}
	return map[string]restorer{
		accounts.KindAccount:         restores(shared, accountDraft, a.Accounts.RestoreAccount),
		accounts.KindAccountSettings: restores(shared, settingsDraft, a.Accounts.RestoreAccountSettings),
		accounts.KindUserSettings:    restores(own, settingsDraft, a.Accounts.RestoreUserSettings),
		environments.Kind:            restores(managed, environmentDraft, a.Environments.Restore),
		observations.KindService:     restores(configured, nameDraft, a.Observations.RestoreService),
		observations.KindContextType: restores(configured, contextTypeDraft, a.Observations.RestoreContextType),
		observations.KindContext:     restores(reported, nameDraft, a.Observations.RestoreContext),
		flags.Kind:                   restores(valued, flagDraft, a.Flags.Restore),
		logging.Kind:                 restores(logger, loggerDraft, a.Logging.Restore),
		logging.KindGroup:            restores(valued, logGroupDraft, a.Logging.RestoreGroup),
		configs.Kind:                 restores(valued, configDraft, a.Configs.Restore),
		jobs.Kind:                    restores(configured, jobDraft, a.Jobs.Restore),
	}
}

func allWrites(to access) writeNeeds {
	return writeNeeds{changes.Created: to.needs, changes.Updated: to.needs, changes.Deleted: to.needs}
}

// restores returns the restorer of a kind. draft reads a document of that kind.
func restores[D any](needs writeNeeds, draft func(*jsonapi.Envelope) D,
	restore func(context.Context, accounts.Caller, accounts.Revert, D) (changes.Change, error),
) restorer {
	return restorer{needs, func(ctx context.Context, caller accounts.Caller, revert accounts.Revert) (changes.Change, error) {
		var before D
		if revert.Change.Before != nil {
			attributes, err := jsonapi.ParseObject(revert.Change.Before)
			if err != nil {
				return changes.Change{}, err
			}
			envelope := jsonapi.Bare(attributes)
			envelope.ID, envelope.Restores = optional.Of(revert.Change.Key), true
			before = draft(envelope)
		}
		return restore(ctx, caller, revert, before)
	}}
}

// revert undoes a change. It requires the rights of the write that undoes the change.
func (a *API) revert(c *call) (reply, error) {
	force := c.query.Bool("force").Or(false)
	if err := c.query.Err(); err != nil {
		return reply{}, err
	}
	if err := c.nothing(); err != nil {
		return reply{}, err
	}
	change, err := a.findChange(c)
	if err != nil {
		return reply{}, err
	}
	to, known := a.restorers()[change.Kind]
	if err := to.check(change, known); err != nil {
		return reply{}, err
	}
	made, err := to.restore(c.ctx(), c.caller, accounts.Revert{Change: change, Force: force, Needs: to.needs})
	return detailed(made, withoutSources(err))
}

// check refuses a change that can never be undone, whatever the state of the resource.
func (r restorer) check(change changes.Change, known bool) error {
	_, removable := r.needs[changes.Deleted]
	switch {
	case change.Kind == jobs.KindHealth:
		return notRevertible("This change reports the health of a job. There is nothing to revert.")
	case change.Kind == webhooks.Kind:
		return notRevertible("Changes of webhooks cannot be reverted, because the history does not keep their URLs, headers and secrets. Write the webhook as you want it instead.")
	case !known:
		return notRevertible("Changes of kind %s cannot be reverted, because they grant or remove access.", naming.Words(change.Kind))
	case change.Trimmed:
		return notRevertible("The state before this change is no longer kept, because the account's history became too large. Write the %s as you want it instead.", change.Kind)
	case change.Key == changes.AllKeys:
		return notRevertible("This change covers several resources at once. Revert the changes of the single resources instead, if there are any.")
	case change.Action == changes.Expired:
		return notRevertible("This change removed a temporary level that had expired. Set the level again, with or without an expiry.")
	case change.Before == nil && !removable:
		return notRevertible("This change created the %s, which cannot be deleted.", change.Kind)
	}
	return nil
}

func notRevertible(format string, args ...any) error {
	return fault.New(fault.NotRevertible, format, args...)
}

// withoutSources removes the sources of problems: they point into a body that the
// caller did not send.
func withoutSources(err error) error {
	var problems fault.Problems
	for _, refusal := range fault.All(err) {
		if refusal.Source.Kind == fault.NoSource {
			return err
		}
		problems.Add(refusal.At(fault.Source{}))
	}
	return cmp.Or(problems.Err(), err)
}
