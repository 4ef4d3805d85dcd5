// Package page says which part of a list is wanted, in the two ways lists are
// read: numbered pages, and pages that continue after a cursor.
//
// It owns the numbers and their limits. Reading them out of a URL is jsonapi's
// work, turning them into SQL is the store's.
package page
