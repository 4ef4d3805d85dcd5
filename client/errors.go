package signalbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Code names a kind of refusal.
type Code string

// The codes that a server answers with.
const (
	CodeValidation           Code = "validation_error"
	CodeInvalidParameter     Code = "invalid_parameter"
	CodeEnvironmentUnmanaged Code = "environment_unmanaged"
	CodeFlagUnmanaged        Code = "flag_unmanaged"
	CodeGroupNesting         Code = "group_nesting_unsupported"
	CodeUnauthorized         Code = "unauthorized"
	CodeLimitReached         Code = "entitlement_limit_reached"
	CodeForbidden            Code = "forbidden"
	CodeNotFound             Code = "not_found"
	CodeMethodNotAllowed     Code = "method_not_allowed"
	CodeAlreadyExists        Code = "already_exists"
	CodeEnvironmentProtected Code = "environment_protected"
	CodeFlagDemotion         Code = "flag_demotion_unsupported"
	CodeConfigInUse          Code = "config_in_use"
	CodeConfigProtected      Code = "config_protected"
	CodeRunFinished          Code = "run_finished"
	CodeJobDeleted           Code = "job_deleted"
	CodeRowLimitReached      Code = "row_limit_reached"
	CodeVersionMismatch      Code = "version_mismatch"
	CodePayloadTooLarge      Code = "payload_too_large"
	CodeUnsupportedMediaType Code = "unsupported_media_type"
	CodeRateLimited          Code = "rate_limited"
	CodeInternal             Code = "internal_error"
	CodeUnavailable          Code = "unavailable"
)

// APIError is an answer that is no success.
type APIError struct {
	// StatusCode is the HTTP status.
	StatusCode int
	// RequestID finds the request in the server's log.
	RequestID string
	// RetryAfter is how long the server asks to wait before the next attempt;
	// 0 when it does not say.
	RetryAfter time.Duration
	// Errors are all problems that the server named, in its order. It is empty
	// when the answer did not come from a Signalbox server but from something
	// in front of it.
	Errors []ErrorEntry

	call string // the request, for the message
	text string // the start of an answer without error entries
}

// ErrorEntry is one problem.
type ErrorEntry struct {
	// Status is the HTTP status that this problem alone would have.
	Status string `json:"status"`
	// Code names the kind of problem, for programs.
	Code Code `json:"code"`
	// Title is the kind of problem in words.
	Title string `json:"title"`
	// Detail is a sentence about this very problem.
	Detail string `json:"detail"`
	// Source is the place in the request, if there is one.
	Source ErrorSource `json:"source"`
	// Meta is what a program may want to know besides the code.
	Meta map[string]any `json:"meta"`
}

// ErrorSource is the place in a request that a problem is about.
type ErrorSource struct {
	// Pointer is a JSON pointer into the body. "" is the whole body; nil means
	// that the problem is not in the body.
	Pointer *string `json:"pointer"`
	// Parameter is the name of a query parameter, or empty.
	Parameter string `json:"parameter"`
}

// Limit is a limit of the account's plan that a write would have exceeded.
type Limit struct {
	// Key names the limit, such as "platform.managed_environments".
	Key string
	// Current is how many are in use, Maximum how many the plan allows.
	Current, Maximum int
	// Plan is the plan that the limit comes from.
	Plan string
	// Product is the product whose plan counts, where several could.
	Product string
}

// Error gives the request, the status and what the server said.
func (e *APIError) Error() string {
	text := fmt.Sprintf("%s: %d", e.call, e.StatusCode)
	switch {
	case len(e.Errors) > 0:
		details := make([]string, len(e.Errors))
		for i, entry := range e.Errors {
			details[i] = entry.Detail
		}
		text += fmt.Sprintf(" %s: %s", e.Errors[0].Code, strings.Join(details, " "))
	case e.text != "":
		text += ": " + e.text
	default:
		text += " " + http.StatusText(e.StatusCode)
	}
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// Has tells whether one of the problems has a code.
func (e *APIError) Has(code Code) bool {
	for _, entry := range e.Errors {
		if entry.Code == code {
			return true
		}
	}
	return false
}

// Limit gives the limit that was reached, when that is the problem.
func (e *APIError) Limit() (Limit, bool) {
	for _, entry := range e.Errors {
		if entry.Code == CodeLimitReached {
			return entry.limit(), true
		}
	}
	return Limit{}, false
}

// limit reads the facts of the entry; what is missing stays zero.
func (e ErrorEntry) limit() Limit {
	var limit Limit
	limit.Key, _ = e.Meta["limit_key"].(string)
	limit.Plan, _ = e.Meta["plan"].(string)
	limit.Product, _ = e.Meta["product"].(string)
	current, _ := e.Meta["current"].(float64)
	maximum, _ := e.Meta["maximum"].(float64)
	limit.Current, limit.Maximum = int(current), int(maximum)
	return limit
}

// IsNotFound tells whether there is no such resource in the account.
func IsNotFound(err error) bool { return has(err, CodeNotFound) }

// IsAlreadyExists tells whether the id of a creation is in use.
func IsAlreadyExists(err error) bool { return has(err, CodeAlreadyExists) }

// IsVersionMismatch tells whether a write with [IfMatch] was refused because
// the resource has changed.
func IsVersionMismatch(err error) bool { return has(err, CodeVersionMismatch) }

// IsLimitReached tells whether the plan allows no more; [APIError.Limit] says
// of what.
func IsLimitReached(err error) bool { return has(err, CodeLimitReached) }

// IsRowLimitReached tells whether the account holds as many as any account may,
// whatever its plan.
func IsRowLimitReached(err error) bool { return has(err, CodeRowLimitReached) }

// IsValidation tells whether the body of the request broke a rule.
func IsValidation(err error) bool { return has(err, CodeValidation) }

// IsInvalidParameter tells whether a filter, the order or the page of a list,
// or another parameter broke a rule.
func IsInvalidParameter(err error) bool { return has(err, CodeInvalidParameter) }

// IsUnauthorized tells whether the key is unknown, revoked or expired.
func IsUnauthorized(err error) bool { return has(err, CodeUnauthorized) }

// IsForbidden tells whether the key's role or scope does not allow the call.
func IsForbidden(err error) bool { return has(err, CodeForbidden) }

// IsRateLimited tells whether the key has made too many requests.
func IsRateLimited(err error) bool { return has(err, CodeRateLimited) }

// IsEnvironmentUnmanaged tells whether a value was sent for an environment
// that takes none.
func IsEnvironmentUnmanaged(err error) bool { return has(err, CodeEnvironmentUnmanaged) }

// IsEnvironmentProtected tells whether the environment may not be demoted or
// deleted.
func IsEnvironmentProtected(err error) bool { return has(err, CodeEnvironmentProtected) }

// IsFlagUnmanaged tells whether configuration for an environment was sent for a
// discovered flag.
func IsFlagUnmanaged(err error) bool { return has(err, CodeFlagUnmanaged) }

// IsFlagDemotion tells whether a managed flag was to become discovered again.
func IsFlagDemotion(err error) bool { return has(err, CodeFlagDemotion) }

// IsConfigInUse tells whether a config was not deleted because others inherit
// from it.
func IsConfigInUse(err error) bool { return has(err, CodeConfigInUse) }

// IsConfigProtected tells whether [CommonConfig] was to be deleted.
func IsConfigProtected(err error) bool { return has(err, CodeConfigProtected) }

// IsRunFinished tells whether a run was not cancelled because it has ended.
func IsRunFinished(err error) bool { return has(err, CodeRunFinished) }

// IsJobDeleted tells whether a run was not repeated because its job is gone.
func IsJobDeleted(err error) bool { return has(err, CodeJobDeleted) }

// has looks at codes, not at the status: a proxy's 404 says nothing about a
// resource.
func has(err error, code Code) bool {
	refusal, ok := errors.AsType[*APIError](err)
	return ok && refusal.Has(code)
}

// newAPIError makes the error of an answer that is no success.
func newAPIError(r request, response *http.Response, body []byte) *APIError {
	refusal := &APIError{
		StatusCode: response.StatusCode,
		RequestID:  response.Header.Get("X-Request-Id"),
		RetryAfter: retryAfter(response.Header.Get("Retry-After"), time.Now()),
		call:       r.name(),
	}
	var document struct {
		Errors []ErrorEntry `json:"errors"`
	}
	if json.Unmarshal(body, &document) == nil {
		refusal.Errors = document.Errors
	}
	if len(refusal.Errors) == 0 {
		refusal.text = excerpt(body)
	}
	return refusal
}

// retryAfter reads the header, which is a number of seconds or a date.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseInt(header, 10, 32); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// excerpt is the start of a body for a message: one line of readable text.
func excerpt(body []byte) string {
	const enough = 200
	if !utf8.Valid(body) {
		return ""
	}
	text := strings.Join(strings.Fields(string(body)), " ")
	if short := []rune(text); len(short) > enough {
		return string(short[:enough]) + "…"
	}
	return text
}
