// Package bulk says what came of a report: many items that a running service
// sends at once, of which bad ones are skipped and the rest is kept.
package bulk

// Unknown is the service or environment of an item that names none.
const Unknown = "unknown"

// Outcome says what became of a report.
type Outcome struct {
	// Registered counts the distinct items that were kept.
	Registered int
	Rejected   []Rejected
}

// Rejected is an item that was skipped, by its place in the report, and why.
type Rejected struct {
	Index  int
	Detail string
}
