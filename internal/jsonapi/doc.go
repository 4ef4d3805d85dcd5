// Package jsonapi reads requests and renders responses: documents, errors and
// query parameters. It knows no resource.
//
// A body is read member by member. Problems are collected instead of returned, so
// that a caller sees all of them at once. They are passed with the draft to the
// domain, whose rules add further problems.
//
// This package has the one table from error codes to HTTP statuses.
package jsonapi
