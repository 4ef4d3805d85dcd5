// Package api serves the HTTP interface: it parses a request, authorizes it,
// calls the domain and renders the answer. It holds no rules and no SQL.
//
// routes.go is the whole interface on one screen. A handler takes a call and
// returns a reply or an error; respond.go alone writes responses, renders
// errors, logs what went wrong inside and counts. The same concept has the
// same file name here as in the store and the client.
package api
