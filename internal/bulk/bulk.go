// Package bulk has the outcome of a report: many items that a running service
// sends at once, of which bad ones are skipped.
package bulk

// Unknown is the service or environment of an item that names none.
const Unknown = "unknown"

// Outcome is the outcome of a report.
type Outcome struct {
	// Registered counts the distinct items that were kept.
	Registered int
	Rejected   []Rejected
}

// Rejected is an item that was skipped, and why.
type Rejected struct {
	Index  int
	Detail string
}
