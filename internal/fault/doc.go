// Package fault is the one error type of Signalbox: a refusal with a code.
//
// The domain, the store and the API all refuse with *Error. A code says what
// kind of refusal it is; package jsonapi alone knows which HTTP status a code
// has. Every error that is not a *Error is a defect or an outage and is
// answered without its text.
//
// The package knows neither HTTP nor SQL nor any resource.
package fault
