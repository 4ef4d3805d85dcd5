package api

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/admission"
)

// access says who may call a route, and whether its response is cached.
type access struct {
	open      bool           // no key is needed
	anyHeader bool           // the key may be in X-API-Key too
	socket    bool           // the key may be in api_key too, because browsers cannot set a socket's headers
	inPath    bool           // the key is in the path
	token     bool           // the token in the URL names the key
	needs     accounts.Needs // the rights that the route requires
	outlives  bool           // it is answered from memory while the database is away
	cached    bool           // only recorded changes can alter the response
	dryRun    bool           // it supports a dry run
	quiet     bool           // successes are logged at DEBUG only
	rpc       bool           // it is a method of gRPC, and the key may be in flagd's selector

	// endpoint sets these; see classOf and hasUUIDs.
	class   admission.Class
	counted bool
	uuids   bool // the ids in the path are UUIDs
}

// The kinds of access. Keys restricted to environments may read, report and
// evaluate; with writesValues the domain decides which writes they may make.
func open() access        { return access{open: true} }
func probes() access      { return access{open: true, quiet: true} }
func reads() access       { return access{needs: anyone()} }
func cachedReads() access { return access{needs: anyone(), cached: true} }
func reports() access     { return access{needs: anyone()} }
func evaluates() access {
	return access{needs: accounts.Needs{Role: accounts.Viewer, Scoped: true, Evaluates: true}, anyHeader: true, outlives: true}
}
func pollsLevels() access {
	return access{needs: accounts.Needs{Role: accounts.Viewer, Scoped: true, Levels: true}, inPath: true, outlives: true, quiet: true}
}

// syncs returns the access of flagd's providers: like evaluation, because they evaluate with what they load.
func syncs() access {
	to := evaluates()
	to.anyHeader, to.quiet = false, true
	return to
}

// syncsRPC is syncs for the methods of gRPC.
func syncsRPC() access {
	to := syncs()
	to.rpc = true
	return to
}
func follows() access      { return access{needs: evaluates().needs, token: true} }
func loads() access        { return access{needs: anyone(), outlives: true} }
func listens() access      { return access{needs: anyone(), socket: true} }
func personal() access     { return access{needs: accounts.Needs{Role: accounts.Member}} }
func configures() access   { return access{needs: accounts.Needs{Role: accounts.Member}} }
func writesValues() access { return access{needs: accounts.Needs{Role: accounts.Member, Scoped: true}} }
func manages() access      { return access{needs: accounts.Needs{Role: accounts.Admin}} }

// orDryRun lets a route be called as a dry run, because all its effects are in one
// transaction that can be rolled back. Three kinds of routes have other effects: reports
// are merged with other reports, actions start work at once, and signing in or out sets
// a cookie and counts attempts.
func (a access) orDryRun() access {
	a.dryRun = true
	return a
}

// anyone admits every caller except keys that have one purpose.
func anyone() accounts.Needs { return accounts.Needs{Role: accounts.Viewer, Scoped: true} }

// route is one line of the interface.
type route struct {
	pattern string
	access  access
	handle  handler
}

// hasUUIDs reports whether the ids in the path of a pattern are UUIDs. Other ids are chosen by callers.
func hasUUIDs(pattern string) bool {
	_, path, _ := strings.Cut(pattern, " /api/v1/")
	collection, _, _ := strings.Cut(path, "/")
	return slices.Contains([]string{"api_keys", "invitations", "links", "runs", "sessions", "users", "webhooks"}, collection)
}

// routes returns every route of the interface.
//
//nolint:funlen // one line per route, and all on one screen
func (a *API) routes() []route {
	key, run := keyResource(), runResource()
	environment, service, contextType, context := environmentResource(), serviceResource(), contextTypeResource(), contextResource()
	flag, flagSource := flagResource(), flagSourceResource()
	logger, loggerSource, logGroup := loggerResource(), loggerSourceResource(), logGroupResource()
	config, job := configResource(), jobResource()
	user, invitation, link, session := userResource(), invitationResource(), linkResource(), sessionResource()
	change, connection := changeResource(), connectionResource()
	webhook, delivery := webhookResource(), deliveryResource()
	routes := []route{
		{"GET /api/liveness", probes(), a.liveness},
		{"GET /api/readiness", probes(), a.readiness},
		{"GET /api/serving", probes(), a.serving},
		{"GET /api/openapi.json", open(), a.openapi},

		{"GET /auth/methods", open(), a.signInMethods},
		{"GET /auth/oidc/start", open(), a.startOpenID},
		{"GET /auth/oidc/callback", open(), a.finishOpenID},

		{"GET /api/v1/accounts/current", reads(), a.account},
		{"PUT /api/v1/accounts/current", manages().orDryRun(), a.replaceAccount},
		{"GET /api/v1/accounts/current/settings", reads(), settings(accounts.KindAccountSettings, a.Accounts.AccountSettings)},
		{"PUT /api/v1/accounts/current/settings", manages().orDryRun(), replaceSettings(accounts.KindAccountSettings, a.Accounts.ReplaceAccountSettings)},
		{"GET /api/v1/users/current", reads(), a.user},
		{"GET /api/v1/users/current/settings", reads(), settings(accounts.KindUserSettings, a.Accounts.UserSettings)},
		{"PUT /api/v1/users/current/settings", personal().orDryRun(), replaceSettings(accounts.KindUserSettings, a.Accounts.ReplaceUserSettings)},

		{"PUT /api/v1/users/current/password", reads(), a.changePassword},
		{"GET /api/v1/users", manages(), user.list(a.Accounts.Users)},
		{"GET /api/v1/users/{id}", manages(), user.get(a.Accounts.User)},
		{"PUT /api/v1/users/{id}", manages().orDryRun(), user.replace(a.Accounts.ReplaceUser)},
		{"DELETE /api/v1/users/{id}", manages().orDryRun(), user.remove(a.Accounts.DeleteUser)},
		{"POST /api/v1/users/{id}/actions/reset_password", manages(), a.resetPassword},

		{"GET /api/v1/invitations", manages(), invitation.list(a.Accounts.Invitations)},
		{"POST /api/v1/invitations", manages().orDryRun(), a.invite},
		{"GET /api/v1/invitations/{id}", manages(), invitation.get(a.Accounts.Invitation)},
		{"DELETE /api/v1/invitations/{id}", manages().orDryRun(), invitation.remove(a.Accounts.DeleteInvitation)},
		{"GET /api/v1/links", manages(), link.list(a.Accounts.Links)},
		{"GET /api/v1/links/{id}", manages(), link.get(a.Accounts.Link)},
		{"DELETE /api/v1/links/{id}", manages().orDryRun(), link.remove(a.Accounts.WithdrawLink)},
		{"POST /api/v1/links/redeem", open(), a.redeem},

		{"GET /api/v1/sessions", reads(), session.list(a.Accounts.Sessions)},
		{"POST /api/v1/sessions", open(), a.signIn},
		{"GET /api/v1/sessions/current", reads(), a.currentSession},
		{"DELETE /api/v1/sessions/current", reads(), a.signOut},
		{"POST /api/v1/sessions/current/codes", reads(), a.makeCode},
		{"DELETE /api/v1/sessions/{id}", reads().orDryRun(), session.remove(a.Accounts.EndSession)},

		{"GET /api/v1/api_keys", reads(), key.list(a.Accounts.Keys)},
		{"POST /api/v1/api_keys", manages().orDryRun(), key.create(a.createKey)},
		{"GET /api/v1/api_keys/{id}", reads(), key.get(a.Accounts.Key)},
		{"PUT /api/v1/api_keys/{id}", manages().orDryRun(), key.replace(a.replaceKey)},
		{"DELETE /api/v1/api_keys/{id}", manages().orDryRun(), key.remove(a.deleteKey)},
		{"POST /api/v1/api_keys/{id}/actions/revoke", manages(), key.action(a.revokeKey)},

		{"GET /api/v1/environments", cachedReads(), environment.list(a.Environments.Environments)},
		{"POST /api/v1/environments", manages().orDryRun(), environment.create(a.Environments.Create)},
		{"GET /api/v1/environments/{id}", cachedReads(), environment.get(a.Environments.Environment)},
		{"PUT /api/v1/environments/{id}", manages().orDryRun(), environment.replace(a.Environments.Replace)},
		{"DELETE /api/v1/environments/{id}", manages().orDryRun(), a.deleteEnvironment},
		{"GET /api/v1/environments/{id}/usage", reads(), a.environmentUsage},

		{"GET /api/v1/services", cachedReads(), service.list(a.Observations.Services)},
		{"POST /api/v1/services", configures().orDryRun(), service.create(a.Observations.CreateService)},
		{"GET /api/v1/services/{id}", cachedReads(), service.get(a.Observations.Service)},
		{"PUT /api/v1/services/{id}", configures().orDryRun(), service.replace(a.Observations.ReplaceService)},
		{"DELETE /api/v1/services/{id}", configures().orDryRun(), service.remove(a.Observations.DeleteService)},

		{"GET /api/v1/context_types", cachedReads(), contextType.list(a.Observations.ContextTypes)},
		{"POST /api/v1/context_types", configures().orDryRun(), contextType.create(a.Observations.CreateContextType)},
		{"GET /api/v1/context_types/{id}", cachedReads(), contextType.get(a.Observations.ContextType)},
		{"PUT /api/v1/context_types/{id}", configures().orDryRun(), contextType.replace(a.Observations.ReplaceContextType)},
		{"DELETE /api/v1/context_types/{id}", configures().orDryRun(), contextType.remove(a.Observations.DeleteContextType)},

		{"POST /api/v1/contexts/bulk", reports(), report(a, "contexts", reportedContext, a.Observations.Report)},
		{"GET /api/v1/contexts", reads(), context.list(a.Observations.Contexts)},
		{"GET /api/v1/contexts/{id}", reads(), context.get(a.Observations.Context)},
		{"PUT /api/v1/contexts/{id}", configures().orDryRun(), context.replace(a.Observations.RenameContext)},
		{"DELETE /api/v1/contexts/{id}", configures().orDryRun(), context.remove(a.Observations.DeleteContext)},

		{"POST /api/v1/metrics/bulk", reports(), a.reportMetrics},
		{"GET /api/v1/metrics", reads(), a.metricSeries},

		{"GET /api/v1/flags", reads(), flag.list(a.Flags.Flags)},
		{"POST /api/v1/flags", configures().orDryRun(), flag.create(a.Flags.Create)},
		{"POST /api/v1/flags/bulk", reports(), report(a, "flags", flagDeclaration, a.Flags.Report)},
		{"GET /api/v1/flags/{id}", reads(), flag.get(a.Flags.Flag)},
		{"PUT /api/v1/flags/{id}", writesValues().orDryRun(), flag.replace(a.Flags.Replace)},
		{"DELETE /api/v1/flags/{id}", configures().orDryRun(), flag.remove(a.Flags.Delete)},
		{"GET /api/v1/flags/{id}/sources", reads(), flagSource.list(a.Flags.Sources)},
		{"POST /api/v1/flags/{id}/actions/evaluate", reads(), a.evaluateFlag},
		{"POST /api/v1/flags/actions/evaluate", reads(), a.evaluateFlags},
		{"GET /api/v1/flag_sources", reads(), flagSource.list(a.Flags.Sources)},

		{"GET /api/v1/loggers", reads(), logger.list(a.Logging.Loggers)},
		{"POST /api/v1/loggers/bulk", reports(), report(a, "loggers", loggerObservation, a.Logging.Report)},
		{"GET /api/v1/loggers/{id}", reads(), logger.get(a.Logging.Logger)},
		{"PUT /api/v1/loggers/{id}", writesValues().orDryRun(), logger.replace(a.Logging.Replace)},
		{"DELETE /api/v1/loggers/{id}", configures().orDryRun(), logger.remove(a.Logging.Delete)},
		{"GET /api/v1/loggers/{id}/sources", reads(), loggerSource.list(a.Logging.Sources)},
		{"GET /api/v1/logger_sources", reads(), loggerSource.list(a.Logging.Sources)},

		{"GET /api/v1/log_groups", cachedReads(), logGroup.list(a.Logging.Groups)},
		{"POST /api/v1/log_groups", configures().orDryRun(), logGroup.create(a.Logging.CreateGroup)},
		{"GET /api/v1/log_groups/{id}", cachedReads(), logGroup.get(a.Logging.Group)},
		{"PUT /api/v1/log_groups/{id}", writesValues().orDryRun(), logGroup.replace(a.Logging.ReplaceGroup)},
		{"DELETE /api/v1/log_groups/{id}", configures().orDryRun(), logGroup.remove(a.Logging.DeleteGroup)},

		{"GET /api/v1/configs", cachedReads(), config.list(a.Configs.Configs)},
		{"POST /api/v1/configs", configures().orDryRun(), config.create(a.Configs.Create)},
		{"GET /api/v1/configs/{id}", cachedReads(), config.get(a.Configs.Config)},
		{"PUT /api/v1/configs/{id}", writesValues().orDryRun(), config.replace(a.Configs.Replace)},
		{"DELETE /api/v1/configs/{id}", configures().orDryRun(), config.remove(a.Configs.Delete)},
		{"GET /api/v1/configs/{id}/resolved", cachedReads(), a.resolvedConfig},

		{"GET /api/v1/snapshots/{environment}", loads(), a.snapshot},

		{"POST /ofrep/v1/evaluate/flags", evaluates(), a.ofrepFlags},
		{"POST /ofrep/v1/evaluate/flags/{key}", evaluates(), a.ofrepFlag},
		{"GET " + eventStreamPath, follows(), a.eventStream},
		{"OPTIONS " + eventStreamPath, open(), ofrepPreflight("GET", "Cache-Control, Last-Event-ID")},
		{"OPTIONS /ofrep/v1/evaluate/flags", open(), ofrepPreflight("POST", evaluationHeaders)},
		{"OPTIONS /ofrep/v1/evaluate/flags/{key}", open(), ofrepPreflight("POST", evaluationHeaders)},

		{"GET /flagd/v1/flags/{environment}", syncs(), a.flagdFlags},

		{"GET /api/v1/jobs", reads(), job.list(a.Jobs.Jobs)},
		{"POST /api/v1/jobs", configures().orDryRun(), job.create(a.Jobs.Create)},
		{"GET /api/v1/jobs/{id}", reads(), job.get(a.Jobs.Job)},
		{"PUT /api/v1/jobs/{id}", configures().orDryRun(), job.replace(a.Jobs.Replace)},
		{"DELETE /api/v1/jobs/{id}", configures().orDryRun(), job.remove(a.Jobs.Delete)},
		{"POST /api/v1/jobs/{id}/actions/run", configures(), run.action(a.Jobs.RunNow)},
		{"GET /api/v1/jobs/{id}/stats", reads(), a.jobStats},
		{"GET /api/v1/schedules/preview", reads(), a.previewSchedule},
		{"GET /api/v1/runs", reads(), run.tail(a, "-created_at", isUUID, a.Jobs.Runs)},
		{"GET /api/v1/runs/stats", reads(), a.runStats},
		{"GET /api/v1/runs/{id}", reads(), run.get(a.Jobs.Run)},
		{"POST /api/v1/runs/{id}/actions/cancel", configures(), run.action(a.Jobs.Cancel)},
		{"POST /api/v1/runs/{id}/actions/rerun", configures(), run.action(a.Jobs.Rerun)},
		{"GET /api/v1/usage", reads(), a.usage},

		{"GET /api/v1/webhooks", manages(), webhook.list(a.Webhooks.Webhooks)},
		{"POST /api/v1/webhooks", manages().orDryRun(), webhook.create(a.Webhooks.Create)},
		{"GET /api/v1/webhooks/{id}", manages(), webhook.get(a.Webhooks.Webhook)},
		{"PUT /api/v1/webhooks/{id}", manages().orDryRun(), webhook.replace(a.Webhooks.Replace)},
		{"DELETE /api/v1/webhooks/{id}", manages().orDryRun(), webhook.remove(a.Webhooks.Delete)},
		{"POST /api/v1/webhooks/{id}/actions/test", manages(), delivery.action(a.Webhooks.Test)},
		{"POST /api/v1/webhooks/{id}/actions/rotate_secret", manages(), webhook.action(a.Webhooks.RotateSecret)},
		{"POST /api/v1/webhooks/{id}/actions/redeliver", manages(), a.redeliverRange},
		{"GET /api/v1/webhooks/{id}/deliveries", manages(), delivery.tail(a, "-created_at", isUUID, a.Webhooks.Deliveries)},
		{"POST /api/v1/webhooks/{id}/deliveries/{delivery}/actions/redeliver", manages(), a.redeliver},

		{"GET /api/v1/changes", reads(), change.tail(a, "-created_at", isSequence, a.changes)},
		{"GET /api/v1/changes/{seq}", reads(), a.change},
		{"POST /api/v1/changes/{seq}/actions/revert", writesValues().orDryRun(), a.revert},
		{"GET /api/ws/v1/events", listens(), a.events},
		{"GET /api/v1/connections", reads(), connection.tail(a, "-connected_at", isUUID, a.connections)},
	}
	routes = append(routes, a.levelFileRoutes()...)
	if a.options.ServeMetrics {
		routes = append(routes, route{"GET /metrics", probes(), a.metrics})
	}
	return routes
}

// methods returns the methods of gRPC, which the interface description does not have.
func (a *API) methods() []route {
	return []route{
		{"POST " + flagdService + "SyncFlags", syncsRPC(), a.syncFlags},
		{"POST " + flagdService + "FetchAllFlags", syncsRPC(), a.fetchAllFlags},
		{"POST " + flagdService + "GetMetadata", open(), a.syncMetadata},
	}
}
