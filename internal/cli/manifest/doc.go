// Package manifest makes a server what files say: it reads resources from YAML and JSON, plans what differs, and writes
// that. It also writes the files of what a server has.
//
// # A plan
//
// Every resource of the files is sent to the server as a dry run, and what the server answers is compared with what it has:
// the server alone decides what a member means and what its default is. A resource that the server refuses ends it all before
// the first write. What refers to something that the same plan makes or changes cannot be tried yet: its refusal is put off,
// when it is about that reference, until the write itself. A key that may not write makes a plan too, by a comparison here
// (local.go) that does not know what the server would refuse.
//
// A plan can be kept in a file (saved.go). It is made again when it is applied, and refused when a resource has another version.
//
// Resources are written in the order of need, several at once where none needs another. A write that failed changes nothing
// about those before it, and a plan made anew begins where it ended.
//
// # What files do not say
//
// Some state comes by itself, and stays as it is unless a file names it: levels that expire, whether a job that runs once has
// run, and the attributes of context types. A file can leave further members to people (runtime.go).
//
// # Owners
//
// docs/decisions/0032 has how the resources of an owner are known, and 0051 what plans in files, moves and runtime members do.
package manifest
