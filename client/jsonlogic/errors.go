package jsonlogic

import "errors"

// Code names why a rule was refused.
type Code string

// The reasons for which Compile refuses a rule.
const (
	CodeMalformed       Code = "malformed_json"
	CodeUnknownOperator Code = "unknown_operator"
	CodeTooDeep         Code = "too_deep"
	CodeTooManyNodes    Code = "too_many_nodes"
	CodeTooLarge        Code = "too_large"
)

// Error is why and where a rule was refused.
type Error struct {
	Code    Code
	Pointer string // JSON pointer (RFC 6901) into the rule; "" is the whole rule
	Detail  string // one sentence for people
}

// Error returns the detail with the place.
func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Detail
	}
	return e.Detail + " (at " + e.Pointer + ")"
}

// The ways in which an evaluation fails.
var (
	// ErrLimit: the rule did too much work for one evaluation, or built too large a value.
	ErrLimit = errors.New("the rule exceeded the limits of one evaluation")
	// ErrType: the reference implementation throws a TypeError here, such as for a product of no factors.
	ErrType = errors.New("the rule applied an operator to values it has no result for")
)
