package api

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jsonapi"
)

// handler answers one call.
type handler func(*call) (reply, error)

// call is one authorized request.
type call struct {
	request *http.Request
	writer  *recorder // for reading the body within its limit, and for rare headers
	caller  accounts.Caller
	query   *jsonapi.Query
	id      string          // {id} of the path, decoded and valid
	body    *jsonapi.Object // the body, once it was read; nil if there was none
	uuids   bool            // the ids of the path are UUIDs
	bare    bool            // the body has no envelope, so pointers in errors omit it
	made    int64           // the number of the first change that the write recorded; 0 for none
	stale   bool            // the database is away, and the caller is known from memory
	sync    syncRequest     // the message of a gRPC request
	enter   func() error    // takes a place for the request; nil if it has one or needs none
	// environment is the environment in the token of an event stream.
	environment string
}

func (c *call) ctx() context.Context { return c.writer.ctx }

// stored returns an id as it is stored. UUIDs may be sent in any case (RFC 9562); the case of other ids matters.
func (c *call) stored(id string) string {
	if c.uuids && isUUID(id) {
		return strings.ToLower(id)
	}
	return id
}

// text reads the body. The handler must have read all parameters before: a request with an
// unknown parameter must be refused before it does anything.
func (c *call) text() ([]byte, error) {
	if err := c.checkQuery(); err != nil {
		return nil, err
	}
	text, err := jsonapi.ReadBody(c.writer, c.request)
	if err == nil && c.enter != nil {
		err = c.enter()
	}
	return text, err
}

// checkQuery refuses parameters that no handler has read, if the request is strict.
func (c *call) checkQuery() error {
	if !c.query.Strict {
		return nil
	}
	return c.query.Err()
}

// envelope reads the body as a document of one resource.
func (c *call) envelope(kind string) (*jsonapi.Envelope, error) {
	text, err := c.text()
	if err != nil {
		return nil, err
	}
	return c.parseEnvelope(text, kind)
}

func (c *call) parseEnvelope(text []byte, kind string) (*jsonapi.Envelope, error) {
	envelope, err := jsonapi.ParseEnvelope(text, kind)
	if err != nil {
		return nil, err
	}
	envelope.Strict = c.writer.strict
	c.body = envelope.Document()
	return envelope, nil
}

// object reads the body as an object that is not an envelope.
func (c *call) object(text []byte) (*jsonapi.Object, error) {
	object, err := jsonapi.ParseObject(text)
	c.body = object
	return object, err
}

// envelopeOrBare reads the body as a document of one resource, or as its attributes alone.
func (c *call) envelopeOrBare(kind string) (*jsonapi.Envelope, error) {
	text, err := c.text()
	if err != nil {
		return nil, err
	}
	body, err := c.object(text)
	if err == nil && slices.Contains(body.Names(), "data") {
		return c.parseEnvelope(text, kind)
	}
	return c.bareEnvelope(body, err)
}

// bareEnvelope wraps a body that has only attributes in an envelope, or returns the error of reading it.
func (c *call) bareEnvelope(body *jsonapi.Object, err error) (*jsonapi.Envelope, error) {
	c.bare = true
	if err != nil {
		return nil, err
	}
	envelope := jsonapi.Bare(body)
	envelope.Strict = c.writer.strict
	return envelope, nil
}

// objectOrNothing reads the body of an action; no body is an empty object.
func (c *call) objectOrNothing() (*jsonapi.Object, error) {
	text, err := c.text()
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}")
	}
	return c.object(text)
}

// nothing reads the body of an action that takes no input. The body may be any object; in a strict request it must be empty.
func (c *call) nothing() error {
	if _, err := c.objectOrNothing(); err != nil {
		return err
	}
	problems := c.done()
	return problems.Err()
}

// done returns the problems of the body, after all its members were read.
func (c *call) done() fault.Problems { return c.body.Done(c.writer.strict) }

// reply is the answer of a handler.
type reply struct {
	status    int
	document  any           // encoded as JSON into body
	body      []byte        // nil sends no body
	zipped    func() []byte // returns the compressed body; nil if it is not cached
	length    string        // the Content-Length of body
	mediaType string        // empty is JSON:API's
	etag      string
	modified  time.Time    // the Last-Modified; zero sends none, and must have no fraction of a second
	since     time.Time    // when the answer was last known to be current, if the database is away
	observed  bool         // the body has members that the ETag does not cover
	raw       http.Handler // serves the response itself
}

func ok(document any) (reply, error) { return reply{status: http.StatusOK, document: document}, nil }

// one replies with a single resource and its ETag, or returns err if the resource
// was not found.
func one(status int, resource jsonapi.Resource, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	definition, observed := defined(resource)
	tag, err := etag(definition)
	if err != nil {
		return reply{}, err
	}
	return reply{status: status, document: jsonapi.Single{Data: resource}, etag: tag, observed: observed}, nil
}

// ifMatch returns the precondition that the If-Match header sets, or nil.
func ifMatch[T any](c *call, document func(T) jsonapi.Resource) changes.Match[T] {
	header := strings.Join(c.request.Header.Values("If-Match"), ",")
	if header == "" {
		return nil
	}
	return func(current T) bool {
		definition, _ := defined(document(current))
		tag, err := etag(definition)
		return err == nil && matchesTag(header, tag, strongTag)
	}
}

// withoutEnvelope returns err with pointers for a body without an envelope. If two errors
// point to the same member, only the first is kept.
func withoutEnvelope(err error) error {
	var told fault.Errors
	for _, refusal := range fault.All(err) {
		if refusal.Source.Kind == fault.AttributeSource {
			path := refusal.Source.Path
			if path != "" {
				path = "/" + path
			}
			refusal = refusal.At(fault.Pointer(path))
		}
		if !slices.ContainsFunc(told, func(earlier *fault.Error) bool { return earlier.Source == refusal.Source }) {
			told = append(told, refusal)
		}
	}
	if len(told) == 0 {
		return err
	}
	return told
}
