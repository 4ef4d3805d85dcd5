// Package fault has the one error type of Signalbox: a refusal with a code. The
// domain, the store and the API all refuse with *Error; package jsonapi maps codes
// to HTTP statuses. Every other error is a defect or an outage, and callers do not
// see its text.
package fault

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Code names a kind of refusal. The values are part of the public interface.
type Code string

// The codes, in the order of their HTTP status.
const (
	Validation           Code = "validation_error"
	InvalidParameter     Code = "invalid_parameter"
	EnvironmentUnmanaged Code = "environment_unmanaged"
	FlagUnmanaged        Code = "flag_unmanaged"
	GroupNesting         Code = "group_nesting_unsupported"
	Unauthorized         Code = "unauthorized"
	LimitReached         Code = "entitlement_limit_reached"
	Forbidden            Code = "forbidden"
	NotFound             Code = "not_found"
	MethodNotAllowed     Code = "method_not_allowed"
	AlreadyExists        Code = "already_exists"
	RunFinished          Code = "run_finished"
	JobDeleted           Code = "job_deleted"
	EnvironmentProtected Code = "environment_protected"
	FlagDemotion         Code = "flag_demotion_unsupported"
	ConfigInUse          Code = "config_in_use"
	ConfigProtected      Code = "config_protected"
	ChangedSince         Code = "changed_since"
	NotRevertible        Code = "not_revertible"
	LastOwner            Code = "last_owner"
	RowLimitReached      Code = "row_limit_reached"
	IdempotencyMismatch  Code = "idempotency_mismatch"
	InProgress           Code = "in_progress"
	AnswerLost           Code = "answer_lost"
	VersionMismatch      Code = "version_mismatch"
	PayloadTooLarge      Code = "payload_too_large"
	UnsupportedMediaType Code = "unsupported_media_type"
	RateLimited          Code = "rate_limited"
	Internal             Code = "internal_error"
	Unavailable          Code = "unavailable"
)

// SourceKind is the part of a request that a Source points into.
type SourceKind int

// The kinds of source. Domain rules name attributes; the reader of a body names
// pointers into the whole document.
const (
	NoSource SourceKind = iota
	PointerSource
	AttributeSource
	ParameterSource
)

// Source is the place in a request that caused a refusal.
type Source struct {
	Kind SourceKind
	Path string
}

// Pointer returns the source at a JSON pointer into the request document; "" is
// the document.
func Pointer(path string) Source { return Source{Kind: PointerSource, Path: path} }

// Attribute returns the source at a path below the resource's attributes, such
// as "environments/production/level".
func Attribute(path string) Source { return Source{Kind: AttributeSource, Path: path} }

// Escape returns a name as one segment of a path or of a JSON pointer.
func Escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// Parameter returns the source of a query parameter.
func Parameter(name string) Source { return Source{Kind: ParameterSource, Path: name} }

// Error is one refusal: a code, a sentence for people, the place in the request that
// caused it, and facts for programs.
type Error struct {
	Code   Code
	Detail string
	Source Source
	Meta   map[string]any
	// RetryAfter is how long to wait before trying again; 0 is unknown.
	RetryAfter time.Duration
	// Err is the cause. It is logged, and never shown to a caller.
	Err error
}

// New returns an Error with a formatted sentence.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Missing returns the NotFound refusal for a resource.
func Missing(kind, key string) *Error {
	return New(NotFound, "There is no %s %q.", kind, key)
}

// RowLimit returns the refusal of a write that would exceed an account's limit of
// rows or bytes. key names the limit for programs.
func RowLimit(key string, maximum int, format string, args ...any) *Error {
	return New(RowLimitReached, format, args...).With("limit_key", key).With("maximum", maximum)
}

// At returns a copy of e with a place in the request.
func (e *Error) At(source Source) *Error {
	placed := *e
	placed.Source = source
	return &placed
}

// With returns a copy of e with one more fact for programs.
func (e *Error) With(name string, value any) *Error {
	extended := *e
	extended.Meta = maps.Clone(e.Meta)
	if extended.Meta == nil {
		extended.Meta = map[string]any{}
	}
	extended.Meta[name] = value
	return &extended
}

// Because returns a copy of e with its cause, for the log.
func (e *Error) Because(cause error) *Error {
	caused := *e
	caused.Err = cause
	return &caused
}

// Error returns the code, the sentence and the cause, for logs and tests.
func (e *Error) Error() string {
	text := string(e.Code) + ": " + e.Detail
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether err is, or wraps, a refusal with a code.
func Is(err error, code Code) bool {
	return slices.ContainsFunc(All(err), func(refusal *Error) bool { return refusal.Code == code })
}

// All returns every refusal in err, in order; nil if err has none.
func All(err error) []*Error {
	if several, ok := errors.AsType[Errors](err); ok {
		return several
	}
	if one, ok := errors.AsType[*Error](err); ok {
		return []*Error{one}
	}
	return nil
}
