// Package telemetry provides logs, metrics and traces.
//
// It owns the log format and the context values in log lines (log.go), the names and labels of every metric (metrics.go and its
// neighbors), and the export of spans (tracing.go). No default logger, global metrics registry or global tracer provider is set.
// One thing cannot be avoided: the OpenTelemetry library reports a malformed OTEL_* variable to standard error.
//
// It knows no route, resource or table: callers pass route patterns and kinds of transactions. Label values that outsiders choose are
// bounded here, because every new value costs memory for the life of the process.
package telemetry
