// Package jsonapi reads requests and renders responses: documents, errors and
// query parameters. It knows no resource.
//
// A body is read member by member. Problems are collected instead of returned, so
// that a caller hears of all of them at once; they travel with the draft to the
// domain, whose rules add theirs.
//
// The one table from error codes to HTTP statuses is here.
package jsonapi
