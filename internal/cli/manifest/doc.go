// Package manifest applies files to a server: it reads resources from YAML and JSON, plans the differences, and writes them.
// It also exports the resources of a server as files.
//
// # A plan
//
// Every resource of the files is sent to the server as a dry run. The answer is compared with the stored resource, because
// only the server knows the meaning and the default of a member. A refused resource stops the plan before its first write. One
// refusal does not: a resource may refer to another that the same plan creates or changes later. The server then checks the
// resource when it is written.
//
// A resource is written after the resources that it refers to; independent resources are written at once. A failed write does
// not undo earlier writes, and a new plan continues after them.
//
// # State that files leave out
//
// Some state is not declared and stays as it is unless a file names it: temporary levels, whether a one-off job has run, and
// the attributes of context types.
//
// # Owners
//
// docs/decisions/0032 describes how the resources of an owner are recorded.
package manifest
