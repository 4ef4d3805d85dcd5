package api

import (
	"bytes"
	"cmp"
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

// compressFrom is the size in bytes from which bodies are compressed.
const compressFrom = 2 << 10

// statusGone is the logged status of a request whose caller left before the answer.
const statusGone = 499

// encode turns a reply's document into its body.
func (r reply) encode() (reply, error) {
	if r.document != nil {
		text, err := encodeJSON(r.document)
		if err != nil {
			return reply{}, err
		}
		r.body, r.document = text, nil
	}
	r.mediaType = cmp.Or(r.mediaType, jsonapi.MediaType)
	r.length = strconv.Itoa(len(r.body))
	return r, nil
}

// encodeJSON encodes a document. A page is encoded item by item, because the
// encoder buffers each value as a whole.
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
		buffer.Truncate(buffer.Len() - 1) // the line break after each value
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

// write sends an encoded reply. It ignores write errors: the caller left.
func (a *API) write(w *recorder, r *http.Request, answer reply) {
	if answer.raw != nil {
		answer.raw.ServeHTTP(w, r.WithContext(w.ctx))
		return
	}
	if !answer.since.IsZero() {
		w.set("Age", strconv.Itoa(int(time.Since(answer.since).Seconds())))
	}
	zipped := len(answer.body) >= compressFrom && acceptsGzip(header(r, "Accept-Encoding"))
	if len(answer.body) >= compressFrom {
		w.vary("Accept-Encoding")
	}
	if a.isUnchanged(w, r, answer, zipped) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if answer.body == nil {
		w.WriteHeader(answer.status)
		return
	}
	w.set("Content-Type", answer.mediaType)
	body, length := answer.body, answer.length
	if zipped {
		body = answer.compressed()
		length = strconv.Itoa(len(body))
		w.set("Content-Encoding", "gzip")
	}
	w.set("Content-Length", length)
	w.WriteHeader(answer.status)
	_, _ = w.Write(body)
}

// isUnchanged sets the ETag and Last-Modified of an answer, and reports whether the caller has the answer already. The
// ETag decides if the caller sent one.
func (a *API) isUnchanged(w *recorder, r *http.Request, answer reply, zipped bool) bool {
	if !answer.modified.IsZero() {
		w.set("Last-Modified", answer.modified.UTC().Format(http.TimeFormat))
	}
	if answer.etag != "" && a.notModified(w, r, answer, zipped) {
		return true
	}
	if answer.modified.IsZero() || header(r, "If-None-Match") != "" || !conditional(w, r, answer) {
		return false
	}
	known, err := http.ParseTime(header(r, "If-Modified-Since"))
	return err == nil && !answer.modified.After(known)
}

// compressed returns the body compressed.
func (r *reply) compressed() []byte {
	if r.zipped != nil {
		return r.zipped()
	}
	return compress(r.body)
}

// notModified sets the ETag and reports whether the caller has the response already,
// compressed or not. If so, the ETag is the one of the caller's copy.
func (a *API) notModified(w *recorder, r *http.Request, answer reply, zipped bool) bool {
	if listed := header(r, "If-None-Match"); listed != "" && conditional(w, r, answer) {
		for _, encoding := range []bool{zipped, !zipped} {
			if tag := encodedTag(answer.etag, encoding); matchesTag(listed, tag, weakTag) {
				w.set("Etag", tag)
				return true
			}
		}
	}
	w.set("Etag", encodedTag(answer.etag, zipped))
	return false
}

// writeError sends an error in the form of the route's protocol. Failed requests are
// logged only here.
func (a *API) writeError(w *recorder, r *http.Request, err error) {
	if w.ctx.Err() != nil && errors.Is(err, context.Canceled) {
		w.WriteHeader(statusGone)
		return
	}
	status, errs := jsonapi.Errors(err, telemetry.RequestID(w.ctx))
	failure := reply{status: status, document: errs}
	if w.ofrep {
		failure.document, failure.mediaType = ofrepErrors(r.PathValue("key"), status, errs.Errors[0]), plainJSON
	}
	if status >= http.StatusInternalServerError {
		a.Log.ErrorContext(w.ctx, "A request failed in the server; the client got its request id to quote.",
			"method", r.Method, "path", telemetry.Path(r), "status", status, "error", err)
	}
	if w.rpc {
		w.endWithStatus(statusOf(r, status), errs.Errors[0].Detail)
		return
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
		if w.ofrep { // the web page should be able to read the reason
			allowPages(w, r, nil)
		}
	}
	if fault.Is(err, fault.RateLimited) || fault.Is(err, fault.InProgress) || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter(err))
	}
	answer, err := failure.encode()
	if err != nil { // our own document always encodes
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	a.write(w, r, answer)
}

// retryAfter returns how many whole seconds a caller should wait.
func retryAfter(err error) string {
	wait := time.Second
	for _, refusal := range fault.All(err) {
		wait = max(wait, refusal.RetryAfter)
	}
	return strconv.Itoa(int(math.Ceil(wait.Seconds())))
}

// conditional reports whether If-None-Match applies. It applies to reads and to
// evaluations, which use POST, but not if the ETag does not cover the whole body.
func conditional(w *recorder, r *http.Request, answer reply) bool {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead || w.ofrep
	return reads && answer.status == http.StatusOK && !answer.observed
}

// definer is implemented by resources that show observed members, such as
// last_used_at, besides their definition. The ETag covers only the definition.
type definer interface{ Definition() any }

// defined returns a resource without its observed members, and reports whether it can
// have any.
func defined(resource jsonapi.Resource) (definition jsonapi.Resource, observed bool) {
	if shown, ok := resource.Attributes.(definer); ok {
		resource.Attributes = shown.Definition()
		return resource, true
	}
	return resource, false
}

// etag hashes a resource's definition.
func etag(definition jsonapi.Resource) (string, error) {
	text, err := json.Marshal(definition)
	if err != nil {
		return "", fmt.Errorf("hashing a resource: %w", err)
	}
	return hashed(text), nil
}

// hashed returns the ETag of a text.
func hashed(text []byte) string {
	sum := sha256.Sum256(text)
	return tagOf(sum[:])
}

// tagOf returns the ETag of a SHA-256 sum.
func tagOf(sum []byte) string { return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"` }

// matchesTag reports whether a header such as If-Match lists a tag or is "*". Each
// listed tag is normalized before it is compared.
func matchesTag(header, tag string, normalize func(listed string) string) bool {
	for listed := range strings.SplitSeq(header, ",") {
		if listed = strings.TrimSpace(listed); listed == "*" || normalize(listed) == tag {
			return true
		}
	}
	return false
}

// weakTag accepts tags that a proxy made weak, for example by compressing: they are
// good enough to omit a body.
func weakTag(listed string) string { return strings.TrimPrefix(listed, "W/") }

// strongTag accepts the tags of all forms, but no weak tags: a write needs the
// exact resource, in whichever form it was sent.
func strongTag(listed string) string {
	for _, form := range []string{zippedTag, bareTag} {
		if plain, is := strings.CutSuffix(listed, form); is {
			listed = plain + `"`
		}
	}
	return listed
}

// These end the tags of bodies in another form: a strong tag identifies exact bytes.
const (
	zippedTag = `-gzip"`
	bareTag   = `-bare"` // without an envelope
)

// formTag returns the tag of a body in another form.
func formTag(tag, form string) string { return strings.TrimSuffix(tag, `"`) + form }

// encodedTag returns the tag of a body in its encoding.
func encodedTag(tag string, zipped bool) string {
	if zipped {
		return formTag(tag, zippedTag)
	}
	return tag
}

// acceptsGzip reports whether an Accept-Encoding header allows gzip, by name or by
// "*". A quality of zero, in any spelling, forbids it.
func acceptsGzip(header string) bool {
	others := false
	for item := range strings.SplitSeq(header, ",") {
		name, parameters, _ := strings.Cut(item, ";")
		switch name = strings.TrimSpace(name); {
		case strings.EqualFold(name, "gzip"):
			return isWanted(parameters)
		case name == "*":
			others = isWanted(parameters)
		}
	}
	return others
}

// isWanted reports whether an encoding with these parameters has a quality above zero.
func isWanted(parameters string) bool {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			quality, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return err == nil && quality > 0
		}
	}
	return true
}

// compressors are expensive to create, so they are reused.
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
	writer.Reset(nil) // a pooled writer must not keep the whole result alive
	return buffer.Bytes()
}
