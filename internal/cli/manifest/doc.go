// Package manifest applies files to a server: it reads resources from YAML and JSON, plans the differences, and writes them.
// It also exports the resources of a server as files.
//
// # A plan
//
// Every resource of the files is sent to the server as a dry run, and the answer is compared with the stored resource: the
// server alone decides what a member means and what its default is. If the server refuses a resource, nothing is written. A
// resource may refer to a resource that the same plan creates or changes: if the dry run is refused only because of this
// reference, the check is left to the write. A key that may not write gets a plan from a comparison on this side (local.go),
// which does not find every refusal of the server.
//
// A plan can be saved to a file (saved.go). It is made again when it is applied, and refused if a resource has changed.
//
// A resource is written after the resources that it refers to; independent resources are written at once. A failed write does
// not undo earlier writes, and a new plan continues after them.
//
// # State that files leave out
//
// Some state changes without a file, and is kept unless a file names it: temporary levels, whether a job that runs once has
// run, and the attributes of context types. A file can leave further members to people (runtime.go).
//
// # Owners
//
// docs/decisions/0032 explains how owners are recorded, and 0051 explains saved plans, moves and runtime members.
package manifest
