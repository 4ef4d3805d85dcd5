package api

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jsonapi"
)

// call is one authorized request.
type call struct {
	request *http.Request
	writer  *recorded // for reading the body within its limit, and for rare headers
	caller  accounts.Caller
	query   *jsonapi.Query
}

func (c *call) ctx() context.Context { return c.writer.ctx }

// id gives a path segment, decoded. What no resource can be called is not found.
func (c *call) id(name string) (string, error) {
	id := c.request.PathValue(name)
	if !utf8.ValidString(id) || strings.ContainsRune(id, 0) {
		return "", fault.New(fault.NotFound, "There is no resource with this id.")
	}
	return id, nil
}

// target gives the resource that a path names and the envelope sent for it.
func (c *call) target(resourceType string) (string, *jsonapi.Envelope, error) {
	id, err := c.id("id")
	if err != nil {
		return "", nil, err
	}
	envelope, err := c.envelope(resourceType)
	if err != nil {
		return "", nil, err
	}
	envelope.RequireID(id, func(sent string) string { return sent })
	return id, envelope, nil
}

// envelope reads the body as a document of one resource.
func (c *call) envelope(resourceType string) (*jsonapi.Envelope, error) {
	text, err := jsonapi.ReadBody(c.writer, c.request)
	if err != nil {
		return nil, err
	}
	return jsonapi.ParseEnvelope(text, resourceType)
}

// object reads the body as a plain JSON object.
func (c *call) object() (*jsonapi.Object, error) {
	text, err := jsonapi.ReadBody(c.writer, c.request)
	if err != nil {
		return nil, err
	}
	return jsonapi.ParseObject(text)
}

// objectOrNothing reads the body of an action that may say something; nothing is
// an empty object.
func (c *call) objectOrNothing() (*jsonapi.Object, error) {
	text, err := jsonapi.ReadBody(c.writer, c.request)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}")
	}
	return jsonapi.ParseObject(text)
}

// reply is what a handler answers.
type reply struct {
	status int
	// document is encoded as JSON; nil sends no body.
	document any
	// text is a document that is JSON already.
	text []byte
	// mediaType is JSON:API's unless it is set.
	mediaType string
	etag      string
	// observed says that the document shows more than the tag covers.
	observed bool
	// raw serves the response itself, for handlers that are not ours.
	raw http.Handler
}

func ok(document any) (reply, error)  { return reply{status: http.StatusOK, document: document}, nil }
func noContent() (reply, error)       { return reply{status: http.StatusNoContent}, nil }
func failed(err error) (reply, error) { return reply{}, err }

// one answers with a single resource and its ETag.
func one(status int, resource jsonapi.Resource) (reply, error) {
	definition, observed := defined(resource)
	tag, err := etag(definition)
	if err != nil {
		return reply{}, err
	}
	return reply{status: status, document: jsonapi.Single{Data: resource}, etag: tag, observed: observed}, nil
}

// read answers GET, PUT and actions with a resource, or with their error.
func read[T any](found T, err error, render func(T) jsonapi.Resource) (reply, error) {
	if err != nil {
		return failed(err)
	}
	return one(http.StatusOK, render(found))
}

// created answers POST with a resource, or with its error.
func created[T any](made T, err error, render func(T) jsonapi.Resource) (reply, error) {
	if err != nil {
		return failed(err)
	}
	return one(http.StatusCreated, render(made))
}

// deleted answers DELETE.
func deleted(err error) (reply, error) {
	if err != nil {
		return failed(err)
	}
	return noContent()
}

// ifMatch makes the precondition of a write out of the If-Match header.
func ifMatch[T any](c *call, render func(T) jsonapi.Resource) changes.Match[T] {
	header := strings.Join(c.request.Header.Values("If-Match"), ",")
	if header == "" {
		return nil
	}
	return func(current T) bool {
		definition, _ := defined(render(current))
		tag, err := etag(definition)
		return err == nil && matchesTag(header, tag, strongTag)
	}
}
