// Package levelfiles writes log levels in the formats that logging frameworks read by themselves: properties for Logback,
// XML and JSON for Log4j 2, a dictionary for Python's logging.config, and plain JSON.
//
// It is pure: loggers in, text out. It owns the formats, and the form of names and levels in each format. Which loggers are
// controlled, and where the files are served or written, is up to its callers.
//
// # Decisions
//
//   - A logger that is no longer controlled is released: Logback and Python keep a level until they are told to drop it. A
//     Log4j 2 file is a whole configuration, so a released logger is just missing.
//   - The logger named root is the root logger of the framework. It cannot be released, because a root logger needs a level.
//   - Services choose the names of loggers, and these frameworks trust their configuration: Log4j 2 replaces ${…} in every
//     attribute. So a name with ${ is left out of the files for Logback and Log4j 2.
package levelfiles
