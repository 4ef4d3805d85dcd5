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
	body      []byte
}

// encode turns a reply into bytes.
func (r reply) encode() (response, error) {
	encoded := response{status: r.status, mediaType: r.mediaType, etag: r.etag}
	if r.document == nil {
		return encoded, nil
	}
	if encoded.mediaType == "" {
		encoded.mediaType = jsonapi.MediaType
	}
	if text, isText := r.document.(json.RawMessage); isText {
		encoded.body = text
		return encoded, nil
	}
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r.document); err != nil {
		return response{}, fmt.Errorf("encoding the response: %w", err)
	}
	encoded.body = buffer.Bytes()
	return encoded, nil
}

// write sends a response. A write that fails means the caller left.
func (a *API) write(w http.ResponseWriter, r *http.Request, answer response) {
	header := w.Header()
	if answer.etag != "" {
		header["Etag"] = []string{answer.etag}
		if conditional(r) && answer.status == http.StatusOK && matchesTag(r.Header.Get("If-None-Match"), answer.etag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	if answer.body == nil {
		w.WriteHeader(answer.status)
		return
	}
	header["Content-Type"] = []string{answer.mediaType}
	body := answer.body
	if len(body) >= compressFrom {
		header["Vary"] = []string{"Accept-Encoding"}
		if acceptsGzip(r.Header.Get("Accept-Encoding")) {
			body = compress(body)
			header["Content-Encoding"] = []string{"gzip"}
		}
	}
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(answer.status)
	_, _ = w.Write(body)
}

// renderer turns an error into a status and a document.
type renderer func(err error, requestID string) (status int, document any)

func jsonapiErrors(err error, requestID string) (int, any) { return jsonapi.Errors(err, requestID) }

func (r route) renderErrors(request *http.Request) renderer {
	if r.ofrep {
		return ofrepErrors(request.PathValue("key"))
	}
	return jsonapiErrors
}

// refuse sends an error as JSON:API has it.
func (a *API) refuse(w http.ResponseWriter, r *http.Request, err error) {
	a.refuseAs(jsonapiErrors, w, r, err)
}

// refuseAs sends an error. What is no refusal is logged here, once.
func (a *API) refuseAs(render renderer, w http.ResponseWriter, r *http.Request, err error) {
	requestID := telemetry.RequestID(r.Context())
	if r.Context().Err() != nil && errors.Is(err, context.Canceled) {
		w.WriteHeader(statusGone)
		return
	}
	status, document := render(err, requestID)
	if status >= http.StatusInternalServerError {
		a.Log.ErrorContext(r.Context(), "A request failed.", "method", r.Method, "path", r.URL.Path, "status", status, "error", err)
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

// conditional tells whether If-None-Match may save the body: a read, or an
// evaluation that is posted.
func conditional(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead || strings.HasPrefix(r.URL.Path, "/ofrep/")
}

// definer is a resource that shows more than its definition: an ETag must not
// change with what is only observed.
type definer interface{ Definition() any }

// etag is a hash of a resource's definition.
func etag(resource jsonapi.Resource) (string, error) {
	if observed, ok := resource.Attributes.(definer); ok {
		resource.Attributes = observed.Definition()
	}
	text, err := json.Marshal(resource)
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
func matchesTag(header, tag string) bool {
	if header == "" {
		return false
	}
	for listed := range strings.SplitSeq(header, ",") {
		listed = strings.TrimSpace(listed)
		if listed == "*" || listed == tag {
			return true
		}
	}
	return false
}

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
