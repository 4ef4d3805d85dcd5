// Package settings reads and checks the process settings once, at the start.
//
// It owns the names, flags, defaults, help texts and rules of every SIGNALBOX_* setting. They are in one table (table.go), from which
// the flags, the reading of the environment and of the KEY=VALUE file, and the documentation derive. A flag wins over the environment,
// the environment over the file, and the file over the default.
//
// It opens no files but the settings file: the store opens the database, sealed reads the key ring, plans parses plan files and plan
// lists, and the server loads certificates. The caller passes the environment in.
//
// The table is plain code, because struct tags of an environment library would need a workaround for each of these: three sources,
// one help text for flags and documentation, messages that name the source of a bad value, and secret values.
package settings
