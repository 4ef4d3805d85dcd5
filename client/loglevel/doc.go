// Package loglevel decides which level a logger has, without a network and without a clock.
//
// It owns the levels, the normalization of logger names and the five steps of level resolution: the logger's override
// for the environment, its base level, its group (the group's override, then the group's base level), the same three for
// each existing dot-notation ancestor, nearest first, and INFO. The server, the client and, through the server's results,
// the console resolve with this package and so alike. It does not fetch or store loggers.
//
// A [Tree] is made once of all loggers and groups that matter and never changes. [Tree.Resolve] answers for one name,
// whether the tree has it or not; [Tree.All] answers for every logger of the tree in one pass, each ancestor once.
//
// # What was decided
//
//   - The zero [Level] is None: no level, which inherits. It is null in JSON.
//   - Whether a logger is managed plays no part in resolution: a discovered logger's reported level counts like any
//     other. It decides whether a client applies the result: see [Tree.Controls].
//   - A logger that names a group which the tree does not have is in no group.
//   - A level that an ancestor has from its group comes from the ancestor.
package loglevel
