// Package jsonapi reads requests and renders responses: documents, errors and query parameters.
// It does not know any kind of resource.
//
// A body is read member by member. Problems are collected instead of returned, so that a caller
// sees all of them at once. They go with the draft to the domain, whose rules add further
// problems.
//
// This package has the only table from error codes to HTTP statuses.
package jsonapi
