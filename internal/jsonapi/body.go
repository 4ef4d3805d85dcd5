package jsonapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// MaxBody limits the size of a request body in bytes.
const MaxBody = 8 << 20

// presized is the largest announced length for which memory is allocated in advance.
const presized = 64 << 10

// ReadBody returns the JSON text of a request. It refuses other media types, compressed bodies and bodies that are larger
// than MaxBody or than the limit of a http.MaxBytesReader. A missing Content-Type means JSON.
func ReadBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil, fault.New(fault.UnsupportedMediaType, "The body must be sent as it is, without Content-Encoding; %q is not supported.", encoding)
	}
	text, err := readAll(w, r)
	if limit, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, fault.New(fault.PayloadTooLarge, "The body has more than %d bytes.", limit.Limit)
	}
	if err != nil {
		return nil, fault.New(fault.Validation, "The body could not be read to its end.").At(fault.Pointer("")).Because(err)
	}
	if len(text) > 0 && !isJSON(r.Header.Get("Content-Type")) {
		return nil, fault.New(fault.UnsupportedMediaType, "The body must be %s or application/json, not %q.",
			MediaType, r.Header.Get("Content-Type"))
	}
	return text, nil
}

// readAll reads a body. For a short body it allocates exactly the announced length.
func readAll(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength < 0 || r.ContentLength > presized {
		return io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	}
	text := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, text) // net/http ends the body at the announced length
	return text, err
}

func isJSON(contentType string) bool {
	switch contentType {
	case "", MediaType, "application/json":
		return true
	}
	mediaType, _, err := mime.ParseMediaType(contentType)
	return err == nil && (mediaType == MediaType || mediaType == "application/json")
}

// Envelope is a request document with one resource.
type Envelope struct {
	ID         optional.Value[string]
	Attributes *Object
	// Restores reports whether the attributes are an earlier state of the resource from the history and not a caller's
	// input.
	Restores bool
	// Strict makes Done refuse unknown members.
	Strict bool

	document *Object
}

// members returns the members that JSON:API defines. They count as known, because clients may send back what they read.
func members() []string { return []string{"meta", "links", "jsonapi", "included", "relationships"} }

// ParseEnvelope reads {data: {id, type, attributes}}. If there is no data, it returns an error. It collects smaller
// problems in the Envelope.
func ParseEnvelope(text []byte, kind string) (*Envelope, error) {
	document, err := ParseObject(text)
	if err != nil {
		return nil, err
	}
	shape := `{"type": "` + kind + `", "attributes": {}}`
	data, sent := document.Object("data", shape).Get()
	if !sent {
		document.Refuse("data", "is required and "+mustBeObject+shape)
		return nil, document.problems.Err()
	}
	document.Know(members()...)
	data.Know(members()...)
	if data.String("type").Or(kind) != kind {
		data.Refuse("type", "must be "+strconv.Quote(kind))
	}
	return &Envelope{ID: data.String("id"), Attributes: data.attributes(), document: document}, nil
}

// Bare returns the envelope of a body that consists of attributes only.
func Bare(attributes *Object) *Envelope {
	return &Envelope{Attributes: attributes, document: attributes}
}

// attributes reads the attributes of a resource. Their problems have places relative to the attributes.
func (o *Object) attributes() *Object {
	text, _ := o.member("attributes")
	attributes := &Object{place: fault.Attribute, problems: o.problems, reading: o.reading.inside()}
	o.reading.contain("attributes", attributes)
	if !attributes.parse(text) {
		o.problems.Add(fault.New(fault.Validation, `data/attributes is required and must be an object such as {"name": "An example"}.`).At(fault.Attribute("")))
	}
	return attributes
}

// Done returns the problems of the body. Call it after everything was read.
func (e *Envelope) Done() fault.Problems { return e.document.Done(e.Strict) }

// Document returns the whole body.
func (e *Envelope) Document() *Object { return e.document }

// RequireID adds a problem if the body and the path name different resources.
func (e *Envelope) RequireID(id string) {
	if sent, ok := e.ID.Get(); ok && sent != id {
		e.document.problems.Add(fault.New(fault.Validation, "id must be %q, as in the path, or be left out.", id).At(fault.Pointer("/data/id")))
	}
}

// ParseObject reads a body that must be a JSON object. All parsers must read the text in the same way.
func ParseObject(text []byte) (*Object, error) { return parseObject(text, "") }

// ParseReport reads a body with an array of items that are accepted or rejected one by one. ParseItem reads the items.
func ParseReport(text []byte, array string) (*Object, error) { return parseObject(text, array) }

func parseObject(text []byte, except string) (*Object, error) {
	if !utf8.Valid(text) {
		return nil, malformed("The body is not valid UTF-8.")
	}
	if !json.Valid(text) {
		return nil, malformed("The body is not valid JSON: " + whyNotJSON(text) + ".")
	}
	object := &Object{place: fault.Pointer, problems: fault.WithWarnings(), reading: newReading()}
	if !object.parse(text) {
		return nil, malformed("The body must be a JSON object.")
	}
	object.requireReadable(text, maxUnreadable, except)
	return object, object.problems.Err()
}

// ParseItem reads an object of a body that was already parsed. It adds a problem if parsers could read the object in
// different ways.
func ParseItem(text json.RawMessage) (*Object, bool) {
	item := &Object{place: fault.Pointer, problems: &fault.Problems{}}
	isObject := item.parse(text)
	item.requireReadable(text, 1, "")
	return item, isObject
}

// maxUnreadable limits how many unreadable places of a body are reported.
const maxUnreadable = 100

// requireReadable adds a problem for every place that some parsers cannot read. If such a value were stored, these
// parsers could not read any list with it.
func (o *Object) requireReadable(text []byte, limit int, except string) {
	for _, each := range rawjson.Check(text, limit, except) {
		o.problems.Add(unreadable(each))
	}
}

// Unreadable returns a refusal if some parsers cannot read the text although it is valid JSON, or nil.
func Unreadable(text []byte) *fault.Error {
	for _, first := range rawjson.Check(text, 1, "") {
		return unreadable(first)
	}
	return nil
}

func unreadable(problem rawjson.Problem) *fault.Error {
	where := strings.TrimPrefix(problem.Pointer, "/")
	if where == "" {
		where = "The document"
	}
	return fault.New(fault.Validation, "%s %s.", where, problem.Rule).At(fault.Pointer(problem.Pointer))
}

func malformed(detail string) error {
	return fault.New(fault.Validation, "%s", detail).At(fault.Pointer(""))
}

func whyNotJSON(text []byte) string {
	if len(bytes.TrimSpace(text)) == 0 {
		return "it is empty"
	}
	var value any
	err := json.Unmarshal(text, &value)
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		read := text[:min(int(wrong.Offset), len(text))]
		line := bytes.Count(read, []byte("\n")) + 1
		column := utf8.RuneCount(read[bytes.LastIndexByte(read, '\n')+1:])
		return fmt.Sprintf("line %d, column %d: %v", line, max(column, 1), err)
	}
	return err.Error()
}
