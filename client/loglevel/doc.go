// Package loglevel decides which level a logger has. It does no I/O and reads no clock.
//
// It owns the levels, the normalization of logger names and the five steps of level resolution: the logger's override for
// the environment, its base level, its group (the group's override, then the group's base level), the same three steps for
// each existing dot-notation ancestor, nearest first, and INFO. The server and the client resolve with this package.
//
// A [Tree] is built once from all loggers and groups and is immutable. [Tree.Resolve] returns the level of any name, even
// if the tree does not have it. [Tree.All] returns the levels of every logger of the tree in one pass.
//
// # Decisions
//
//   - The zero [Level] is None: no level, which inherits. It is null in JSON.
//   - Resolution ignores whether a logger is managed: a reported level of an unmanaged logger counts. Clients apply the
//     result only to managed loggers and their descendants: see [Tree.Controls].
//   - A logger whose group is not in the tree has no group.
//   - A level that comes from an ancestor's group has the origin ancestor.
package loglevel
