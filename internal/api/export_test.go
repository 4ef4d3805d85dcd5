package api

import (
	"net/http"
	"net/netip"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
)

// RoutePatterns lists the patterns of the whole interface for tests outside
// the package, which must notice a route that they do not cover.
func RoutePatterns() []string {
	var patterns []string
	for _, route := range (&API{options: Options{ServeMetrics: true}}).routes() {
		patterns = append(patterns, route.pattern)
	}
	return patterns
}

// RouteNeeds returns what each route asks of the caller, by its pattern.
func RouteNeeds() map[string]accounts.Needs {
	needs := map[string]accounts.Needs{}
	for _, route := range (&API{}).routes() {
		needs[route.pattern] = route.access.needs
	}
	return needs
}

// OpenRoutes lists the patterns of the routes that need no key.
func OpenRoutes() (patterns []string) {
	for _, route := range (&API{options: Options{ServeMetrics: true}}).routes() {
		if route.access.open {
			patterns = append(patterns, route.pattern)
		}
	}
	return patterns
}

// RestorerNeeds returns what the writes that undo changes ask of the caller, by kind.
func RestorerNeeds() map[string]map[changes.Action]accounts.Needs {
	needs := map[string]map[changes.Action]accounts.Needs{}
	for kind, to := range (&API{}).restorers() {
		needs[kind] = to.needs
	}
	return needs
}

// ClientOf returns the address that a request comes from, for a server that trusts some proxies.
func ClientOf(r *http.Request, trusted ...netip.Prefix) string { return peers{trusted}.of(r) }

// HeldSeq returns the seq of a snapshot of everything that would be served if the
// database were away; -1 if there is none.
func (a *API) HeldSeq(account, environment string) int64 {
	for _, kept := range a.loaded.lately(account, time.Time{}) {
		if kept.key.environment == environment && kept.key.parts == (SnapshotParts{Flags: true, Levels: true, Configs: true}) {
			return kept.held.current.Load().version
		}
	}
	return -1
}

// Has reports whether a change of a kind of resource may alter any of the parts.
func (p SnapshotParts) Has(kind string) bool { return p.has(kind) }

// HasFlags reports whether the flags that would be evaluated if the database were away
// have a change.
func (a *API) HasFlags(account string, seq int64) bool { return a.FlagSnapshots.IsAt(account, seq) }
