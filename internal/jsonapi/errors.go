package jsonapi

import (
	"net/http"
	"strconv"

	"github.com/signalbox/signalbox/internal/fault"
)

// meaning is the HTTP status and the title of an error code.
type meaning struct {
	code   fault.Code
	status int
	title  string
}

// meaningOf returns the meaning of a code. It has the only table from codes to HTTP.
func meaningOf(code fault.Code) meaning {
	for _, meaning := range [...]meaning{
		{fault.Validation, http.StatusBadRequest, "Invalid request"},
		{fault.InvalidParameter, http.StatusBadRequest, "Invalid parameter"},
		{fault.EnvironmentUnmanaged, http.StatusBadRequest, "Environment is not managed"},
		{fault.FlagUnmanaged, http.StatusBadRequest, "Flag is not managed"},
		{fault.GroupNesting, http.StatusBadRequest, "Groups cannot be nested"},
		{fault.Unauthorized, http.StatusUnauthorized, "Unauthorized"},
		{fault.LimitReached, http.StatusPaymentRequired, "Subscription limit reached"},
		{fault.Forbidden, http.StatusForbidden, "Forbidden"},
		{fault.NotFound, http.StatusNotFound, "Not found"},
		{fault.MethodNotAllowed, http.StatusMethodNotAllowed, "Method not allowed"},
		{fault.AlreadyExists, http.StatusConflict, "Already exists"},
		{fault.RunFinished, http.StatusConflict, "Run has finished"},
		{fault.AlreadyRunning, http.StatusConflict, "Already running"},
		{fault.JobDeleted, http.StatusConflict, "Job was deleted"},
		{fault.EnvironmentProtected, http.StatusConflict, "Environment is protected"},
		{fault.FlagDemotion, http.StatusConflict, "Flag cannot be demoted"},
		{fault.ConfigInUse, http.StatusConflict, "Config is in use"},
		{fault.ConfigProtected, http.StatusConflict, "Config is protected"},
		{fault.ChangedSince, http.StatusConflict, "Changed since"},
		{fault.NotRevertible, http.StatusConflict, "Cannot be reverted"},
		{fault.LastOwner, http.StatusConflict, "Last owner"},
		{fault.RowLimitReached, http.StatusConflict, "Row limit reached"},
		{fault.IdempotencyMismatch, http.StatusConflict, "Idempotency key was used"},
		{fault.InProgress, http.StatusConflict, "In progress"},
		{fault.AnswerLost, http.StatusConflict, "Answer was lost"},
		{fault.VersionMismatch, http.StatusPreconditionFailed, "Version mismatch"},
		{fault.PayloadTooLarge, http.StatusRequestEntityTooLarge, "Payload too large"},
		{fault.UnsupportedMediaType, http.StatusUnsupportedMediaType, "Unsupported media type"},
		{fault.RateLimited, http.StatusTooManyRequests, "Too many requests"},
		{fault.Unavailable, http.StatusServiceUnavailable, "Service unavailable"},
	} {
		if meaning.code == code {
			return meaning
		}
	}
	return meaning{code, http.StatusInternalServerError, "Internal error"}
}

// ErrorObject is one entry of an error document.
type ErrorObject struct {
	Status string         `json:"status"`
	Code   fault.Code     `json:"code"`
	Title  string         `json:"title"`
	Detail string         `json:"detail"`
	Source *ErrorSource   `json:"source,omitempty"`
	Meta   map[string]any `json:"meta"`
}

// ErrorSource is the place of an error in the request. The pointer "" means the whole document.
type ErrorSource struct {
	Pointer   *string `json:"pointer,omitempty"`
	Parameter *string `json:"parameter,omitempty"`
}

// ErrorDocument is the body of every error response.
type ErrorDocument struct {
	Errors []ErrorObject `json:"errors"`
}

// Errors returns the HTTP status and the document for err. If err is not a refusal, its text is
// not shown.
func Errors(err error, requestID string) (int, ErrorDocument) {
	refusals := fault.All(err)
	if len(refusals) == 0 {
		refusals = []*fault.Error{fault.New(fault.Internal,
			"The server failed. Its log has the cause under the request id.")}
	}
	document := ErrorDocument{Errors: make([]ErrorObject, 0, len(refusals))}
	for _, refusal := range refusals {
		document.Errors = append(document.Errors, errorObject(refusal, requestID))
	}
	return meaningOf(refusals[0].Code).status, document
}

func errorObject(refusal *fault.Error, requestID string) ErrorObject {
	means := meaningOf(refusal.Code)
	entry := ErrorObject{Status: strconv.Itoa(means.status), Code: refusal.Code, Title: means.title,
		Detail: refusal.Detail, Source: source(refusal.Source), Meta: refusal.Meta}
	if means.status >= http.StatusInternalServerError {
		entry.Meta = map[string]any{"request_id": requestID}
	}
	if entry.Meta == nil {
		entry.Meta = map[string]any{}
	}
	return entry
}

func source(place fault.Source) *ErrorSource {
	switch {
	case place.Kind == fault.NoSource:
		return nil
	case place.Kind == fault.ParameterSource:
		return &ErrorSource{Parameter: &place.Path}
	case place.Kind == fault.PointerSource:
		return &ErrorSource{Pointer: &place.Path}
	case place.Path == "":
		return &ErrorSource{Pointer: new("/data/attributes")}
	}
	return &ErrorSource{Pointer: new("/data/attributes/" + place.Path)}
}
