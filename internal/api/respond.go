package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/telemetry"
)

// compressFrom is the size from which a body is worth compressing.
const compressFrom = 2 << 10

// statusGone is what the log says when a caller left before the answer.
const statusGone = 499

// response is a reply as bytes.
type response struct {
	status    int
	mediaType string
	etag      string
	observed  bool // the body shows more than the tag covers
	body      []byte
	length    string       // of the body
	raw       http.Handler // serves the response itself
}

// encode turns a reply into bytes.
func (r reply) encode() (response, error) {
	encoded := response{status: r.status, mediaType: r.mediaType, etag: r.etag, observed: r.observed, body: r.text, raw: r.raw}
	if r.document != nil {
		text, err := encodeJSON(r.document)
		if err != nil {
			return response{}, err
		}
		encoded.body = text
	}
	if encoded.mediaType == "" {
		encoded.mediaType = jsonapi.MediaType
	}
	encoded.length = strconv.Itoa(len(encoded.body))
	return encoded, nil
}

// encodeJSON writes a document. A page is written item by item: the encoder
// keeps what it writes a second time until all of it is written.
func encodeJSON(document any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	encode := encoder.Encode
	if page, isPage := document.(jsonapi.Collection); isPage {
		encode = func(any) error { return encodePage(&buffer, encoder, page) }
	}
	if err := encode(document); err != nil {
		return nil, fmt.Errorf("encoding the response: %w", err)
	}
	return buffer.Bytes(), nil
}

func encodePage(buffer *bytes.Buffer, encoder *json.Encoder, page jsonapi.Collection) error {
	write := func(before string, value any) error {
		buffer.WriteString(before)
		err := encoder.Encode(value)
		buffer.Truncate(buffer.Len() - 1) // the line break that every value ends with
		return err
	}
	before := `{"data":[`
	for _, each := range page.Data {
		if err := write(before, each); err != nil {
			return err
		}
		before = ","
	}
	if len(page.Data) == 0 {
		buffer.WriteString(before)
	}
	err := write(`],"meta":`, page.Meta)
	buffer.WriteString("}\n")
	return err
}

// write sends a response. A write that fails means the caller left.
func (a *API) write(w *recorded, r *http.Request, answer response) {
	if answer.raw != nil {
		answer.raw.ServeHTTP(w, r.WithContext(w.ctx))
		return
	}
	if answer.etag != "" {
		w.set("Etag", answer.etag)
		if conditional(w, r, answer) && matchesTag(r.Header.Get("If-None-Match"), answer.etag, weakTag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	if answer.body == nil {
		w.WriteHeader(answer.status)
		return
	}
	w.set("Content-Type", answer.mediaType)
	body, length := answer.body, answer.length
	if len(body) >= compressFrom {
		w.set("Vary", "Accept-Encoding")
		if acceptsGzip(r.Header.Get("Accept-Encoding")) {
			body = compress(body)
			length = strconv.Itoa(len(body))
			w.set("Content-Encoding", "gzip")
		}
	}
	w.set("Content-Length", length)
	w.WriteHeader(answer.status)
	_, _ = w.Write(body)
}

// renderer turns an error into a status and a document.
type renderer func(err error, requestID string) (status int, document any)

func jsonapiErrors(err error, requestID string) (int, any) { return jsonapi.Errors(err, requestID) }

// refuse sends an error as the route has it. What is no refusal is logged here,
// once.
func (a *API) refuse(w *recorded, r *http.Request, err error) {
	render := renderer(jsonapiErrors)
	if w.ofrep {
		render = ofrepErrors(r.PathValue("key"))
	}
	requestID := telemetry.RequestID(w.ctx)
	if w.ctx.Err() != nil && errors.Is(err, context.Canceled) {
		w.WriteHeader(statusGone)
		return
	}
	status, document := render(err, requestID)
	if status >= http.StatusInternalServerError {
		a.Log.ErrorContext(w.ctx, "A request failed.", "method", r.Method, "path", r.URL.Path, "status", status, "error", err)
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if fault.Is(err, fault.RateLimited) || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter(err))
	}
	answer, err := reply{status: status, document: document, mediaType: errorMediaType(document)}.encode()
	if err != nil { // the document is ours and always encodes
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	a.write(w, r, answer)
}

// retryAfter is how many whole seconds a caller should wait.
func retryAfter(err error) string {
	wait := time.Second
	for _, refusal := range fault.All(err) {
		wait = max(wait, refusal.RetryAfter)
	}
	return strconv.Itoa(int(math.Ceil(wait.Seconds())))
}

func errorMediaType(document any) string {
	if _, isPlain := document.(ofrepError); isPlain {
		return plainJSON
	}
	return jsonapi.MediaType
}

// conditional tells whether If-None-Match may save the body: of a read, or of an
// evaluation that is posted. What shows more than its tag covers is always sent.
func conditional(w *recorded, r *http.Request, answer response) bool {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead || w.ofrep
	return reads && answer.status == http.StatusOK && !answer.observed
}

// definer is a resource that shows more than its definition: an ETag must not
// change with what is only observed.
type definer interface{ Definition() any }

// defined is a resource without what is only observed, and whether it shows any
// of that.
func defined(resource jsonapi.Resource) (definition jsonapi.Resource, observed bool) {
	if shown, ok := resource.Attributes.(definer); ok {
		resource.Attributes = shown.Definition()
		return resource, true
	}
	return resource, false
}

// etag is a hash of a resource's definition.
func etag(definition jsonapi.Resource) (string, error) {
	text, err := json.Marshal(definition)
	if err != nil {
		return "", fmt.Errorf("hashing a resource: %w", err)
	}
	return hashed(text), nil
}

// hashed is the ETag of a text.
func hashed(text []byte) string {
	sum := sha256.Sum256(text)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

// matchesTag tells whether a header such as If-Match lists a tag, or is "*".
// Read gives a listed tag as it is compared.
func matchesTag(header, tag string, read func(listed string) string) bool {
	if header == "" {
		return false
	}
	for listed := range strings.SplitSeq(header, ",") {
		if listed = strings.TrimSpace(listed); listed == "*" || read(listed) == tag {
			return true
		}
	}
	return false
}

// weakTag reads a tag that may have been weakened on the way, by a proxy that
// compresses, say: it still saves a body.
func weakTag(listed string) string { return strings.TrimPrefix(listed, "W/") }

// strongTag takes a tag as it is: a write needs the very resource.
func strongTag(listed string) string { return listed }

func acceptsGzip(header string) bool {
	for item := range strings.SplitSeq(header, ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(item), ";")
		if strings.TrimSpace(name) == "gzip" {
			return strings.ReplaceAll(quality, " ", "") != "q=0"
		}
	}
	return false
}

// compressors are expensive to make and are used again.
//
//nolint:gochecknoglobals // a pool holds no state
var compressors = sync.Pool{New: func() any {
	writer, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	return writer
}}

func compress(body []byte) []byte {
	var buffer bytes.Buffer
	writer := compressors.Get().(*gzip.Writer)
	defer compressors.Put(writer)
	writer.Reset(&buffer)
	_, _ = writer.Write(body) // a buffer takes everything
	_ = writer.Close()
	return buffer.Bytes()
}
