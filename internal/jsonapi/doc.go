// Package jsonapi is the shape of requests and responses: documents, errors
// and query parameters. It knows no resource.
//
// A body is read member by member. Each reading notes what is wrong with it
// instead of failing, so that a caller hears of all problems at once; the
// notes travel with the draft to the domain, whose rules add theirs.
//
// The one table from error codes to HTTP statuses is here.
package jsonapi
