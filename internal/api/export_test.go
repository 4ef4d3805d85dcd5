package api

// RoutePatterns lists the patterns of the whole interface for tests outside
// the package, which must notice a route that they do not cover.
func RoutePatterns() []string {
	var patterns []string
	for _, route := range (&API{options: Options{ServeMetrics: true}}).routes() {
		patterns = append(patterns, route.pattern)
	}
	return patterns
}
