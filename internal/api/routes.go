package api

import "github.com/signalbox/signalbox/internal/accounts"

// access says who may call a route.
type access struct {
	open bool // without a key
	// anyHeader accepts the key in X-API-Key too.
	anyHeader bool
	// inQuery accepts the key as the parameter api_key too: browsers and many
	// WebSocket libraries cannot set headers.
	inQuery bool
	role    accounts.Role // the weakest role that may
	// scoped lets keys that are restricted to environments in: the route
	// reads, or reports, or the domain looks at the scope itself.
	scoped bool
}

// The kinds of access that routes have.
func open() access       { return access{open: true} }
func reads() access      { return access{role: accounts.Viewer, scoped: true} }
func reports() access    { return access{role: accounts.Viewer, scoped: true} }
func personal() access   { return access{role: accounts.Member} }
func configures() access { return access{role: accounts.Member} }
func manages() access    { return access{role: accounts.Admin} }

// writesValues lets keys that are restricted to environments in: the domain
// decides what they may change.
func writesValues() access { return access{role: accounts.Member, scoped: true} }

// evaluates is for programs of all kinds, browsers included.
func evaluates() access { return access{role: accounts.Viewer, scoped: true, anyHeader: true} }

// listens is for the event stream.
func listens() access { return access{role: accounts.Viewer, scoped: true, inQuery: true} }

// route is one line of the interface.
type route struct {
	pattern string
	access  access
	handle  func(*call) (reply, error)
	// cached keeps the response while the account's recorded changes stay the
	// same: for what only recorded changes can alter.
	cached bool
}

// routes is the whole interface.
//
//nolint:funlen // one line per route, and all on one screen
func (a *API) routes() []route {
	routes := []route{
		{pattern: "GET /api/liveness", access: open(), handle: a.liveness},
		{pattern: "GET /api/readiness", access: open(), handle: a.readiness},
		{pattern: "GET /api/openapi.json", access: open(), handle: a.openapi},

		{pattern: "GET /api/v1/accounts/current", access: reads(), handle: a.account},
		{pattern: "PUT /api/v1/accounts/current", access: manages(), handle: a.replaceAccount},
		{pattern: "GET /api/v1/accounts/current/settings", access: reads(), handle: a.accountSettings},
		{pattern: "PUT /api/v1/accounts/current/settings", access: manages(), handle: a.replaceAccountSettings},
		{pattern: "GET /api/v1/users/current", access: reads(), handle: a.user},
		{pattern: "GET /api/v1/users/current/settings", access: reads(), handle: a.userSettings},
		{pattern: "PUT /api/v1/users/current/settings", access: personal(), handle: a.replaceUserSettings},

		{pattern: "GET /api/v1/api_keys", access: reads(), handle: a.keys},
		{pattern: "POST /api/v1/api_keys", access: manages(), handle: a.createKey},
		{pattern: "GET /api/v1/api_keys/{id}", access: reads(), handle: a.key},
		{pattern: "PUT /api/v1/api_keys/{id}", access: manages(), handle: a.replaceKey},
		{pattern: "DELETE /api/v1/api_keys/{id}", access: manages(), handle: a.deleteKey},
		{pattern: "POST /api/v1/api_keys/{id}/actions/revoke", access: manages(), handle: a.revokeKey},

		{pattern: "GET /api/v1/environments", access: reads(), handle: a.environments, cached: true},
		{pattern: "POST /api/v1/environments", access: manages(), handle: a.createEnvironment},
		{pattern: "GET /api/v1/environments/{id}", access: reads(), handle: a.environment, cached: true},
		{pattern: "PUT /api/v1/environments/{id}", access: manages(), handle: a.replaceEnvironment},
		{pattern: "DELETE /api/v1/environments/{id}", access: manages(), handle: a.deleteEnvironment},
		{pattern: "GET /api/v1/environments/{id}/usage", access: reads(), handle: a.environmentUsage},

		{pattern: "GET /api/v1/services", access: reads(), handle: a.services, cached: true},
		{pattern: "POST /api/v1/services", access: configures(), handle: a.createService},
		{pattern: "GET /api/v1/services/{id}", access: reads(), handle: a.service, cached: true},
		{pattern: "PUT /api/v1/services/{id}", access: configures(), handle: a.replaceService},
		{pattern: "DELETE /api/v1/services/{id}", access: configures(), handle: a.deleteService},

		{pattern: "GET /api/v1/context_types", access: reads(), handle: a.contextTypes, cached: true},
		{pattern: "GET /api/v1/context_types/{id}", access: reads(), handle: a.contextType, cached: true},
		{pattern: "PUT /api/v1/context_types/{id}", access: configures(), handle: a.replaceContextType},
		{pattern: "DELETE /api/v1/context_types/{id}", access: configures(), handle: a.deleteContextType},

		{pattern: "POST /api/v1/contexts/bulk", access: reports(), handle: a.reportContexts},
		{pattern: "GET /api/v1/contexts", access: reads(), handle: a.contexts},
		{pattern: "GET /api/v1/contexts/{id}", access: reads(), handle: a.context},
		{pattern: "PUT /api/v1/contexts/{id}", access: configures(), handle: a.renameContext},
		{pattern: "DELETE /api/v1/contexts/{id}", access: configures(), handle: a.deleteContext},

		{pattern: "POST /api/v1/metrics/bulk", access: reports(), handle: a.reportMetrics},

		{pattern: "GET /api/v1/flags", access: reads(), handle: a.flags},
		{pattern: "POST /api/v1/flags", access: configures(), handle: a.createFlag},
		{pattern: "POST /api/v1/flags/bulk", access: reports(), handle: a.reportFlags},
		{pattern: "GET /api/v1/flags/{id}", access: reads(), handle: a.flag},
		{pattern: "PUT /api/v1/flags/{id}", access: writesValues(), handle: a.replaceFlag},
		{pattern: "DELETE /api/v1/flags/{id}", access: configures(), handle: a.deleteFlag},
		{pattern: "GET /api/v1/flags/{id}/sources", access: reads(), handle: a.sourcesOfFlag},
		{pattern: "POST /api/v1/flags/{id}/actions/evaluate", access: reads(), handle: a.evaluateFlag},
		{pattern: "GET /api/v1/flag_sources", access: reads(), handle: a.flagSources},

		{pattern: "GET /api/v1/loggers", access: reads(), handle: a.loggers},
		{pattern: "POST /api/v1/loggers/bulk", access: reports(), handle: a.reportLoggers},
		{pattern: "GET /api/v1/loggers/{id}", access: reads(), handle: a.logger},
		{pattern: "PUT /api/v1/loggers/{id}", access: writesValues(), handle: a.replaceLogger},
		{pattern: "DELETE /api/v1/loggers/{id}", access: configures(), handle: a.deleteLogger},
		{pattern: "GET /api/v1/loggers/{id}/sources", access: reads(), handle: a.sourcesOfLogger},
		{pattern: "GET /api/v1/logger_sources", access: reads(), handle: a.loggerSources},

		{pattern: "GET /api/v1/log_groups", access: reads(), handle: a.logGroups, cached: true},
		{pattern: "POST /api/v1/log_groups", access: configures(), handle: a.createLogGroup},
		{pattern: "GET /api/v1/log_groups/{id}", access: reads(), handle: a.logGroup, cached: true},
		{pattern: "PUT /api/v1/log_groups/{id}", access: writesValues(), handle: a.replaceLogGroup},
		{pattern: "DELETE /api/v1/log_groups/{id}", access: configures(), handle: a.deleteLogGroup},
		{pattern: "GET /api/v1/configs", access: reads(), handle: a.configs, cached: true},
		{pattern: "POST /api/v1/configs", access: configures(), handle: a.createConfig},
		{pattern: "GET /api/v1/configs/{id}", access: reads(), handle: a.config, cached: true},
		{pattern: "PUT /api/v1/configs/{id}", access: writesValues(), handle: a.replaceConfig},
		{pattern: "DELETE /api/v1/configs/{id}", access: configures(), handle: a.deleteConfig},
		{pattern: "GET /api/v1/configs/{id}/resolved", access: reads(), handle: a.resolvedConfig, cached: true},

		{pattern: "POST /ofrep/v1/evaluate/flags", access: evaluates(), handle: a.ofrepFlags},
		{pattern: "POST /ofrep/v1/evaluate/flags/{key}", access: evaluates(), handle: a.ofrepFlag},
		{pattern: "OPTIONS /ofrep/v1/evaluate/flags", access: open(), handle: a.ofrepPreflight},
		{pattern: "OPTIONS /ofrep/v1/evaluate/flags/{key}", access: open(), handle: a.ofrepPreflight},

		{pattern: "GET /api/ws/v1/events", access: listens(), handle: a.events},
		{pattern: "GET /api/v1/jobs", access: reads(), handle: a.jobs},
		{pattern: "POST /api/v1/jobs", access: configures(), handle: a.createJob},
		{pattern: "GET /api/v1/jobs/{id}", access: reads(), handle: a.job},
		{pattern: "PUT /api/v1/jobs/{id}", access: configures(), handle: a.replaceJob},
		{pattern: "DELETE /api/v1/jobs/{id}", access: configures(), handle: a.deleteJob},
		{pattern: "POST /api/v1/jobs/{id}/actions/run", access: configures(), handle: a.runJob},
		{pattern: "GET /api/v1/runs", access: reads(), handle: a.runs},
		{pattern: "GET /api/v1/runs/{id}", access: reads(), handle: a.run},
		{pattern: "POST /api/v1/runs/{id}/actions/cancel", access: configures(), handle: a.cancelRun},
		{pattern: "POST /api/v1/runs/{id}/actions/rerun", access: configures(), handle: a.rerun},
		{pattern: "GET /api/v1/usage", access: reads(), handle: a.usage},

		{pattern: "GET /api/v1/changes", access: reads(), handle: a.changes},
		{pattern: "GET /api/v1/changes/{seq}", access: reads(), handle: a.change},
	}
	if a.options.ServeMetrics {
		routes = append(routes, route{pattern: "GET /metrics", access: open(), handle: a.metrics})
	}
	return routes
}
