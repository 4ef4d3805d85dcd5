package api

import "github.com/signalbox/signalbox/internal/accounts"

// access says who may call a route.
type access struct {
	open bool          // without a key
	role accounts.Role // the weakest role that may
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
func (a *API) routes() []route {
	const cached = true
	routes := []route{
		{"GET /api/liveness", open(), a.liveness, false},
		{"GET /api/readiness", open(), a.readiness, false},
		{"GET /api/openapi.json", open(), a.openapi, false},

		{"GET /api/v1/accounts/current", reads(), a.account, false},
		{"PUT /api/v1/accounts/current", manages(), a.replaceAccount, false},
		{"GET /api/v1/accounts/current/settings", reads(), a.accountSettings, false},
		{"PUT /api/v1/accounts/current/settings", manages(), a.replaceAccountSettings, false},
		{"GET /api/v1/users/current", reads(), a.user, false},
		{"GET /api/v1/users/current/settings", reads(), a.userSettings, false},
		{"PUT /api/v1/users/current/settings", personal(), a.replaceUserSettings, false},

		{"GET /api/v1/api_keys", reads(), a.keys, false},
		{"POST /api/v1/api_keys", manages(), a.createKey, false},
		{"GET /api/v1/api_keys/{id}", reads(), a.key, false},
		{"PUT /api/v1/api_keys/{id}", manages(), a.replaceKey, false},
		{"DELETE /api/v1/api_keys/{id}", manages(), a.deleteKey, false},
		{"POST /api/v1/api_keys/{id}/actions/revoke", manages(), a.revokeKey, false},

		{"GET /api/v1/environments", reads(), a.environments, cached},
		{"POST /api/v1/environments", manages(), a.createEnvironment, false},
		{"GET /api/v1/environments/{id}", reads(), a.environment, cached},
		{"PUT /api/v1/environments/{id}", manages(), a.replaceEnvironment, false},
		{"DELETE /api/v1/environments/{id}", manages(), a.deleteEnvironment, false},
		{"GET /api/v1/environments/{id}/usage", reads(), a.environmentUsage, false},

		{"GET /api/v1/services", reads(), a.services, cached},
		{"POST /api/v1/services", configures(), a.createService, false},
		{"GET /api/v1/services/{id}", reads(), a.service, cached},
		{"PUT /api/v1/services/{id}", configures(), a.replaceService, false},
		{"DELETE /api/v1/services/{id}", configures(), a.deleteService, false},

		{"GET /api/v1/context_types", reads(), a.contextTypes, cached},
		{"GET /api/v1/context_types/{id}", reads(), a.contextType, cached},
		{"PUT /api/v1/context_types/{id}", configures(), a.replaceContextType, false},
		{"DELETE /api/v1/context_types/{id}", configures(), a.deleteContextType, false},

		{"POST /api/v1/contexts/bulk", reports(), a.reportContexts, false},
		{"GET /api/v1/contexts", reads(), a.contexts, false},
		{"GET /api/v1/contexts/{id}", reads(), a.context, false},
		{"PUT /api/v1/contexts/{id}", configures(), a.renameContext, false},
		{"DELETE /api/v1/contexts/{id}", configures(), a.deleteContext, false},

		{"POST /api/v1/metrics/bulk", reports(), a.reportMetrics, false},

		{"GET /api/v1/changes", reads(), a.changes, false},
		{"GET /api/v1/changes/{seq}", reads(), a.change, false},
	}
	if a.options.ServeMetrics {
		routes = append(routes, route{"GET /metrics", open(), a.metrics, false})
	}
	return routes
}
