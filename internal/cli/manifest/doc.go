// Package manifest applies files to a server: it reads resources from YAML and JSON, plans the differences, and writes them.
// It also exports the resources of a server as files.
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
// A resource is written after the resources that it refers to; independent resources are written at once. A failed write does
// not undo earlier writes, and a new plan continues after them.
//
// # State that files leave out
//
// Some state comes by itself, and stays as it is unless a file names it: levels that expire, whether a job that runs once has
// run, and the attributes of context types. A file can leave further members to people (runtime.go).
//
// # Owners
//
// docs/decisions/0032 has how the resources of an owner are known, and 0051 what plans in files, moves and runtime members do.
package manifest
