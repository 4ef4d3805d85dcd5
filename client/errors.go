package signalbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Code is the machine-readable code of an error.
type Code string

// The codes of errors.
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
	CodeChangedSince         Code = "changed_since"
	CodeNotRevertible        Code = "not_revertible"
	CodeRunFinished          Code = "run_finished"
	CodeAlreadyRunning       Code = "already_running"
	CodeJobDeleted           Code = "job_deleted"
	CodeLastOwner            Code = "last_owner"
	CodeRowLimitReached      Code = "row_limit_reached"
	CodeIdempotencyMismatch  Code = "idempotency_mismatch"
	CodeInProgress           Code = "in_progress"
	CodeAnswerLost           Code = "answer_lost"
	CodeVersionMismatch      Code = "version_mismatch"
	CodePayloadTooLarge      Code = "payload_too_large"
	CodeUnsupportedMediaType Code = "unsupported_media_type"
	CodeRateLimited          Code = "rate_limited"
	CodeInternal             Code = "internal_error"
	CodeUnavailable          Code = "unavailable"
)

// ErrNotSignalbox means that a successful response is not a document of Signalbox. Another program may answer at the URL.
var ErrNotSignalbox = errors.New("the response is not a Signalbox document")

// APIError is a response that is not a success.
type APIError struct {
	StatusCode int
	// RequestID finds the request in the server's log.
	RequestID string
	// RetryAfter is how long the server asks to wait before the next attempt; 0 when it does not say.
	RetryAfter time.Duration
	// Errors are all problems that the server named. It is empty when the response came from something else, such as a
	// proxy.
	Errors []ErrorEntry

	header http.Header // of the response
	call   string      // the request, for the message
	text   string      // the start of a response without error entries
}

// ErrorEntry is one problem.
type ErrorEntry struct {
	// Status is the HTTP status of this problem alone.
	Status string `json:"status"`
	Code   Code   `json:"code"`
	// Title describes the code, and Detail this problem.
	Title  string `json:"title"`
	Detail string `json:"detail"`
	// Source is the place in the request, if there is one.
	Source ErrorSource `json:"source"`
	// Meta has further facts for programs.
	Meta map[string]any `json:"meta"`
}

// ErrorSource is the place in a request that a problem is about.
type ErrorSource struct {
	// Pointer is a JSON pointer into the body; "" is the whole body, nil a problem elsewhere.
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
	// Plan is the plan that sets the limit. Product is set if plans of several products have this limit.
	Plan, Product string
}

// Error returns the request, the status and the server's sentences.
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

// Has reports whether one of the problems has a code.
func (e *APIError) Has(code Code) bool {
	return slices.ContainsFunc(e.Errors, func(entry ErrorEntry) bool { return entry.Code == code })
}

// isPassing reports whether the same request may succeed a moment later.
func (e *APIError) isPassing() bool {
	return e.StatusCode == http.StatusTooManyRequests || e.StatusCode == http.StatusServiceUnavailable || e.Has(CodeInProgress)
}

// Limit returns the plan's limit that was reached, if that is the problem.
func (e *APIError) Limit() (Limit, bool) {
	for _, entry := range e.Errors {
		if entry.Code == CodeLimitReached {
			return entry.limit(), true
		}
	}
	return Limit{}, false
}

// limit reads the limit from Meta; missing members stay zero.
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

// IsNotFound reports whether the account has no such resource.
func IsNotFound(err error) bool { return has(err, CodeNotFound) }

// IsAlreadyExists reports whether the id of a new resource is in use.
func IsAlreadyExists(err error) bool { return has(err, CodeAlreadyExists) }

// IsVersionMismatch reports whether a write with [IfMatch] was rejected because the resource has changed.
func IsVersionMismatch(err error) bool { return has(err, CodeVersionMismatch) }

// IsLimitReached reports whether a limit of the plan is reached; [APIError.Limit] returns that limit.
func IsLimitReached(err error) bool { return has(err, CodeLimitReached) }

// IsLastOwner reports whether the write would have left the account without an OWNER who can sign in.
func IsLastOwner(err error) bool { return has(err, CodeLastOwner) }

// IsRowLimitReached reports whether the account has reached the server's row limit, which no plan raises.
func IsRowLimitReached(err error) bool { return has(err, CodeRowLimitReached) }

// IsValidation reports whether the request's body is invalid.
func IsValidation(err error) bool { return has(err, CodeValidation) }

// IsInvalidParameter reports whether a query parameter, such as a filter or the page of a list, is invalid.
func IsInvalidParameter(err error) bool { return has(err, CodeInvalidParameter) }

// IsUnauthorized reports whether the key is unknown, revoked or expired.
func IsUnauthorized(err error) bool { return has(err, CodeUnauthorized) }

// IsForbidden reports whether the key's role or scope does not allow the call.
func IsForbidden(err error) bool { return has(err, CodeForbidden) }

// IsRateLimited reports whether the key has made too many requests.
func IsRateLimited(err error) bool { return has(err, CodeRateLimited) }

// IsEnvironmentUnmanaged reports whether a value was sent for an unmanaged environment.
func IsEnvironmentUnmanaged(err error) bool { return has(err, CodeEnvironmentUnmanaged) }

// IsEnvironmentProtected reports whether the environment cannot be deleted or become unmanaged.
func IsEnvironmentProtected(err error) bool { return has(err, CodeEnvironmentProtected) }

// IsFlagUnmanaged reports whether a write tried to configure an unmanaged flag for an environment.
func IsFlagUnmanaged(err error) bool { return has(err, CodeFlagUnmanaged) }

// IsFlagDemotion reports whether a write tried to make a managed flag unmanaged.
func IsFlagDemotion(err error) bool { return has(err, CodeFlagDemotion) }

// IsConfigInUse reports whether a config cannot be deleted because others inherit from it.
func IsConfigInUse(err error) bool { return has(err, CodeConfigInUse) }

// IsConfigProtected reports whether a call tried to delete [CommonConfig].
func IsConfigProtected(err error) bool { return has(err, CodeConfigProtected) }

// IsChangedSince reports whether a change cannot be reverted because its resource was changed afterward.
func IsChangedSince(err error) bool { return has(err, CodeChangedSince) }

// IsNotRevertible reports whether a change is of a kind that cannot be reverted.
func IsNotRevertible(err error) bool { return has(err, CodeNotRevertible) }

// IsAlreadyRunning reports whether a run was refused because the job's runs must not overlap.
func IsAlreadyRunning(err error) bool { return has(err, CodeAlreadyRunning) }

// IsRunFinished reports whether a run cannot be canceled because it has ended.
func IsRunFinished(err error) bool { return has(err, CodeRunFinished) }

// IsJobDeleted reports whether a run cannot be repeated because its job was deleted.
func IsJobDeleted(err error) bool { return has(err, CodeJobDeleted) }

// has compares codes, not the status: a proxy's 404 says nothing about a resource.
func has(err error, code Code) bool {
	apiErr, ok := errors.AsType[*APIError](err)
	return ok && apiErr.Has(code)
}

// newAPIError returns the error for a response that is not a success.
func newAPIError(r request, response *http.Response, body []byte) *APIError {
	apiErr := &APIError{
		StatusCode: response.StatusCode,
		RequestID:  response.Header.Get("X-Request-Id"),
		RetryAfter: retryAfter(response.Header.Get("Retry-After"), time.Now()),
		header:     response.Header,
		call:       r.name(),
	}
	var document struct {
		Errors []ErrorEntry `json:"errors"`
	}
	if json.Unmarshal(body, &document) == nil {
		apiErr.Errors = document.Errors
	}
	if len(apiErr.Errors) == 0 {
		apiErr.text = excerpt(body)
	}
	return apiErr
}

// retryAfter parses the header, which is a number of seconds or a date.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseInt(header, 10, 32); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// excerpt returns the start of a body as one line of text.
func excerpt(body []byte) string {
	const limit = 200
	if !utf8.Valid(body) {
		return ""
	}
	text := strings.Join(strings.Fields(string(body)), " ")
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return text
}
