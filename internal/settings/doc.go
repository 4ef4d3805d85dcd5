// Package settings reads the process settings once, at the start, and checks all of them together.
//
// It owns the names, flags, defaults, help texts and rules of every SIGNALBOX_* setting. They stand in one table (table.go); the
// flags, the reading of the environment and of the KEY=VALUE file, and the reference for the documentation derive from it. A flag wins
// over the environment, the environment over the file, and the file over the default.
//
// It does not open what a setting names: the store opens the database, sealed reads the key ring, plans parses plan files and plan
// lists, and the server loads certificates. It does not read the process environment either: the caller hands it in, which keeps every
// function here free of hidden input.
//
// The table is plain code and not struct tags of an environment library: three sources, one help text for flags and documentation,
// messages that say which source holds a bad value, and values that must never be echoed would each need a detour around such tags.
package settings
