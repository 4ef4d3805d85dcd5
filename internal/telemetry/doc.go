// Package telemetry makes the three things an operator looks at: log lines, metrics and traces.
//
// It owns the log format and what a log line takes from its context (log.go), the names and labels of every metric (metrics.go, pools.go), and
// the export of spans (tracing.go). Everything hangs on values the composition root builds and passes on: no default logger, no global
// metrics registry and no global tracer provider is set. One thing cannot be avoided: the OpenTelemetry library reports a malformed
// OTEL_* variable through its own global logger, to the standard error.
//
// It does not decide what is worth a log line, and it knows no route, resource or table: callers hand in route patterns and kinds of
// transactions. Label values that outsiders choose are bounded here, because every new one would cost memory for the life of the
// process. It does not read settings: the OTEL_* environment is read by the OpenTelemetry library, all else comes as arguments.
package telemetry
