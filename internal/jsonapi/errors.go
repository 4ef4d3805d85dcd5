package jsonapi

import (
	"net/http"
	"strconv"

	"github.com/signalbox/signalbox/internal/fault"
)

// meaning is what an error code is in HTTP.
type meaning struct {
	status int
	title  string
}

// meanings is the one table from codes to HTTP.
func meanings(code fault.Code) meaning {
	switch code {
	case fault.Validation:
		return meaning{http.StatusBadRequest, "Invalid request"}
	case fault.InvalidParameter:
		return meaning{http.StatusBadRequest, "Invalid parameter"}
	case fault.EnvironmentUnmanaged:
		return meaning{http.StatusBadRequest, "Environment is not managed"}
	case fault.FlagUnmanaged:
		return meaning{http.StatusBadRequest, "Flag is not managed"}
	case fault.Unauthorized:
		return meaning{http.StatusUnauthorized, "Unauthorized"}
	case fault.LimitReached:
		return meaning{http.StatusPaymentRequired, "Subscription limit reached"}
	case fault.Forbidden:
		return meaning{http.StatusForbidden, "Forbidden"}
	case fault.NotFound:
		return meaning{http.StatusNotFound, "Not found"}
	case fault.MethodNotAllowed:
		return meaning{http.StatusMethodNotAllowed, "Method not allowed"}
	case fault.AlreadyExists:
		return meaning{http.StatusConflict, "Already exists"}
	case fault.RunFinished:
		return meaning{http.StatusConflict, "Run has finished"}
	case fault.JobDeleted:
		return meaning{http.StatusConflict, "Job was deleted"}
	case fault.EnvironmentProtected:
		return meaning{http.StatusConflict, "Environment is protected"}
	case fault.FlagDemotion:
		return meaning{http.StatusConflict, "Flag cannot be demoted"}
	case fault.RowLimitReached:
		return meaning{http.StatusConflict, "Row limit reached"}
	case fault.VersionMismatch:
		return meaning{http.StatusPreconditionFailed, "Version mismatch"}
	case fault.PayloadTooLarge:
		return meaning{http.StatusRequestEntityTooLarge, "Payload too large"}
	case fault.UnsupportedMediaType:
		return meaning{http.StatusUnsupportedMediaType, "Unsupported media type"}
	case fault.RateLimited:
		return meaning{http.StatusTooManyRequests, "Too many requests"}
	case fault.Unavailable:
		return meaning{http.StatusServiceUnavailable, "Service unavailable"}
	}
	return meaning{http.StatusInternalServerError, "Internal error"}
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

// ErrorSource is the place in the request that an error is about. Pointer is
// a *string because "" points at the whole document.
type ErrorSource struct {
	Pointer   *string `json:"pointer,omitempty"`
	Parameter string  `json:"parameter,omitempty"`
}

// ErrorDocument is the body of every error response.
type ErrorDocument struct {
	Errors []ErrorObject `json:"errors"`
}

// attributesPointer is where a resource's attributes stand in a request.
const attributesPointer = "/data/attributes"

// Errors renders err: the HTTP status and the document. What is not a refusal
// is answered without its text.
func Errors(err error, requestID string) (int, ErrorDocument) {
	refusals := fault.All(err)
	if len(refusals) == 0 {
		refusals = []*fault.Error{fault.New(fault.Internal,
			"Something went wrong here. The request id finds it in the server's log.")}
	}
	document := ErrorDocument{Errors: make([]ErrorObject, 0, len(refusals))}
	for _, refusal := range refusals {
		document.Errors = append(document.Errors, errorObject(refusal, requestID))
	}
	return meanings(refusals[0].Code).status, document
}

func errorObject(refusal *fault.Error, requestID string) ErrorObject {
	means := meanings(refusal.Code)
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
	pointer := place.Path
	switch place.Kind {
	case fault.ParameterSource:
		return &ErrorSource{Parameter: place.Path}
	case fault.AttributeSource:
		pointer = attributesPointer
		if place.Path != "" {
			pointer += "/" + place.Path
		}
	case fault.PointerSource:
	case fault.NoSource:
		return nil
	}
	return &ErrorSource{Pointer: &pointer}
}
