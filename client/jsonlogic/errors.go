package jsonlogic

import "errors"

// Code is why a rule was rejected.
type Code string

// The reasons why Compile rejects a rule.
const (
	CodeMalformed       Code = "malformed_json"
	CodeUnknownOperator Code = "unknown_operator"
	CodeTooDeep         Code = "too_deep"
	CodeTooManyNodes    Code = "too_many_nodes"
	CodeTooLarge        Code = "too_large"
)

// Error is why and where a rule was rejected.
type Error struct {
	Code    Code
	Pointer string // JSON pointer (RFC 6901) into the rule; "" is the whole rule
	Detail  string // one sentence
}

// Error returns the detail and the pointer.
func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Detail
	}
	return e.Detail + " (at " + e.Pointer + ")"
}

// The errors of an evaluation.
var (
	// ErrLimit means that the evaluation did too much work or built too large a value.
	ErrLimit = errors.New("the rule exceeded the limits of one evaluation")
	// ErrSteps means that the evaluations before it have used up their [Steps].
	ErrSteps = errors.New("the rules exceeded the steps that they may take together")
	// ErrType means that the reference implementation throws a TypeError, for example when * has no arguments.
	ErrType = errors.New("the rule applied an operator to values that it does not support")
)
