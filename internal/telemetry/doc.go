// Package telemetry provides logs, metrics and traces.
//
// It owns the log format and the context values in log lines (log.go), the names and labels of every metric (metrics.go and its
// neighbors), and the export of spans (tracing.go). It sets no default logger, no global metrics registry and no global tracer
// provider. There is one exception: the OpenTelemetry library reports a malformed OTEL_* variable to standard error.
//
// It does not know routes, resources or tables: callers pass route patterns and kinds of transactions. Label values that outsiders
// choose are bounded here, because every new value uses memory until the process ends.
package telemetry
