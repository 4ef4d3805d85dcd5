// Package api serves the HTTP interface: it parses a request, authorizes it,
// calls the domain and renders the answer. It has no rules and no SQL.
//
// routes.go is the whole interface on one screen. A handler takes a call and
// returns a reply or an error; respond.go alone writes responses and renders and
// logs errors. Most handlers come from resource.go: a file such as flags.go
// describes its resource, and the route table joins the description with the
// methods of a service. The same concept has the same file name here as in the
// store and the client.
package api
