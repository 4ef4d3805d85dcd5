package api

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/telemetry"
)

// recorded notes what was sent, for the log and the metrics.
type recorded struct {
	http.ResponseWriter
	status int
	bytes  int64
	keyID  string
	quiet  bool // log it only when it fails
}

func (w *recorded) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorded) Write(body []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(body)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorded) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// ServeHTTP is the way of every request: an id, a route, an answer, a log
// line, and a recovery from whatever goes wrong.
func (a *API) ServeHTTP(writer http.ResponseWriter, r *http.Request) {
	started := time.Now()
	a.Metrics.RequestStarted()
	defer a.Metrics.RequestFinished()
	requestID := requestID(r)
	writer.Header()["X-Request-Id"] = []string{requestID}
	r = r.WithContext(telemetry.WithRequestID(r.Context(), requestID))
	w := &recorded{ResponseWriter: writer}
	defer func() { a.finished(w, r, time.Since(started)) }()
	defer func() {
		if cause := recover(); cause != nil {
			a.recovered(w, r, cause)
		}
	}()
	if escaped := r.URL.EscapedPath(); path.Clean(escaped) != escaped {
		a.notFound(w, r) // the mux would redirect
		return
	}
	a.mux.ServeHTTP(w, r)
}

// finished counts and logs a request. The query is not logged: it may carry a key.
func (a *API) finished(w *recorded, r *http.Request, took time.Duration) {
	route := r.Pattern
	if route == "" || route == everything {
		route = "none"
	}
	a.Metrics.ObserveRequest(route, r.Method, w.status, took, w.bytes)
	level := slog.LevelInfo
	if w.quiet && w.status < http.StatusBadRequest {
		level = slog.LevelDebug
	}
	a.Log.LogAttrs(r.Context(), level, "request",
		slog.String("method", r.Method), slog.String("route", route), slog.String("path", r.URL.Path),
		slog.Int("status", w.status), slog.Int64("bytes", w.bytes), slog.Int64("took_us", took.Microseconds()),
		slog.String("key", w.keyID))
}

// recovered answers for a handler that panicked.
func (a *API) recovered(w *recorded, r *http.Request, cause any) {
	if cause == http.ErrAbortHandler { //nolint:errorlint // it is the value itself that is panicked with
		w.status = statusGone
		panic(cause)
	}
	err := fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
	if w.status != 0 { // too late for an answer
		a.Log.ErrorContext(r.Context(), "A request failed after its answer began.", "error", err)
		return
	}
	a.refuse(w, r, err)
}

// requestID takes the caller's id when it is sane, and makes one otherwise.
func requestID(r *http.Request) string {
	sent := r.Header.Get("X-Request-Id")
	if len(sent) >= 1 && len(sent) <= 128 && strings.IndexFunc(sent, notInRequestID) < 0 {
		return sent
	}
	return uuid.NewString()
}

func notInRequestID(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-_.:/+=@", c)
}

// everything is the pattern of what no route matches.
const everything = "/"

// unrouted answers for paths without a route, and for methods that a path
// does not have.
func (a *API) unrouted(w http.ResponseWriter, r *http.Request) {
	methods := a.allowed(r)
	if len(methods) == 0 {
		a.notFound(w, r)
		return
	}
	w.Header().Set("Allow", strings.Join(methods, ", "))
	a.refuse(w, r, fault.New(fault.MethodNotAllowed, "%s is not possible here; %s is.", r.Method, strings.Join(methods, ", ")))
}

// allowed lists the methods that the path has a route for.
func (a *API) allowed(r *http.Request) []string {
	var methods []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		other := *r
		other.Method = method
		if _, pattern := a.mux.Handler(&other); pattern != everything {
			methods = append(methods, method)
		}
	}
	return methods
}

func (a *API) notFound(w http.ResponseWriter, r *http.Request) {
	a.refuse(w, r, fault.New(fault.NotFound, "There is nothing at this path. The interface is described at /api/openapi.json."))
}

// endpoint serves one route: authorize, answer from the cache or by the
// handler, send.
func (a *API) endpoint(route route) http.Handler {
	return http.HandlerFunc(func(writer http.ResponseWriter, r *http.Request) {
		w := writer.(*recorded) // ServeHTTP is the only way here
		ctx, endSpan := a.Tracing.StartRequest(r, route.pattern)
		defer func() { endSpan(cmp.Or(w.status, http.StatusInternalServerError)) }()
		if ctx != r.Context() {
			r = r.WithContext(ctx)
		}
		if route.ofrep {
			w.quiet = true
			allowBrowsers(w.Header())
		}
		answer, err := a.answer(route, w, r)
		if err != nil {
			a.refuseAs(route.renderErrors(r), w, r, err)
			return
		}
		if answer != nil {
			a.write(w, r, *answer)
		}
	})
}

func (a *API) answer(route route, w *recorded, r *http.Request) (*response, error) {
	c := &call{request: r, writer: w}
	if !route.access.open {
		if err := a.authorize(route.access, c); err != nil {
			return nil, err
		}
		w.keyID = c.caller.KeyID
	}
	if route.cached {
		return a.cache.answer(c, func() (*response, error) { return run(route, c) })
	}
	return run(route, c)
}

func run(route route, c *call) (*response, error) {
	var err error
	if c.query, err = jsonapi.ParseQuery(c.request.URL.RawQuery); err != nil {
		return nil, err
	}
	result, err := route.handle(c)
	if err != nil {
		return nil, err
	}
	if result.raw != nil {
		result.raw.ServeHTTP(c.writer, c.request)
		return nil, nil //nolint:nilnil // the response has been sent
	}
	answer, err := result.encode()
	return &answer, err
}

func (a *API) authorize(needs access, c *call) error {
	token, err := token(c.request, needs)
	if err != nil {
		return err
	}
	c.caller, err = a.Auth.Authenticate(c.ctx(), token)
	if err != nil {
		return err
	}
	if err := a.limits.take(c.caller.KeyID); err != nil {
		return err
	}
	return allow(needs, c.caller)
}

func allow(needs access, caller accounts.Caller) error {
	if err := caller.Require(needs.role); err != nil {
		return err
	}
	if !needs.scoped {
		return caller.RequireUnscoped()
	}
	return nil
}

func token(r *http.Request, needs access) (string, error) {
	if key := r.Header.Get("X-API-Key"); needs.anyHeader && key != "" {
		return key, nil
	}
	if key := r.URL.Query().Get("api_key"); needs.inQuery && key != "" {
		return key, nil
	}
	header := r.Header.Get("Authorization")
	scheme, token, _ := strings.Cut(header, " ")
	switch token = strings.TrimSpace(token); {
	case header == "":
		return "", fault.New(fault.Unauthorized, "Send an API key as Authorization: Bearer KEY.")
	case !strings.EqualFold(scheme, "Bearer") || token == "":
		return "", fault.New(fault.Unauthorized, "The Authorization header must be Bearer KEY.")
	}
	return token, nil
}
