// Package settings reads and checks the process settings once, at the start.
//
// It owns the names, flags, defaults, help texts and rules of every SIGNALBOX_* setting. They are in one table (table.go). The flags,
// the reading of the environment and of the KEY=VALUE file, and the documentation all derive from the table. A flag overrides the
// environment, the environment overrides the file, and the file overrides the default.
//
// It opens only the settings file. The store opens the database, sealed reads the key ring, plans parses plan files and plan lists,
// and the server loads certificates. The caller passes the environment.
//
// The table is plain code. A library with struct tags would need a workaround for each of these: three sources, one help text for
// flags and documentation, messages that name the source of a bad value, and secret values.
package settings
