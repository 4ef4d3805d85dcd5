package api

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/telemetry"
)

// recorder is a ResponseWriter that remembers the status and the size of the
// response, for the log and the metrics.
type recorder struct {
	http.ResponseWriter
	ctx    context.Context // the request's context, with the request id
	status int
	bytes  int64
	keyID  string
	userID string // the person who signed in; empty for a key
	ofrep  bool   // the path is one of OFREP's
	rpc    bool   // the path is a method of flagd's gRPC service
	quiet  bool   // successes are logged at DEBUG only
	// streams reports whether the response ends long after it began. begun is the time at which its headers
	// were sent.
	streams bool
	begun   time.Time
	strict  bool // the caller wants unknown members and parameters to be refused

	values [10]string // the values of headers; few responses set more
	used   int
}

// set sets a header by its canonical name. Header.Set would allocate a slice for
// each value; these share one array.
func (w *recorder) set(name, value string) {
	if w.used == len(w.values) {
		w.Header()[name] = []string{value}
		return
	}
	w.values[w.used] = value
	w.used++
	w.Header()[name] = w.values[w.used-1 : w.used : w.used]
}

// vary adds a header of the request, on which the response depends, to Vary.
func (w *recorder) vary(name string) {
	if listed := w.Header()["Vary"]; len(listed) > 0 {
		name = listed[0] + ", " + name
	}
	w.set("Vary", name)
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	if w.streams {
		w.begun = time.Now()
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(body []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(body)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// ServeHTTP gives a request an id, routes it, logs and counts it, and recovers
// from panics.
func (a *API) ServeHTTP(writer http.ResponseWriter, r *http.Request) {
	started := time.Now()
	a.Metrics.RequestStarted()
	defer a.Metrics.RequestFinished()
	id := a.requestIDs.of(r)
	w := &recorder{ResponseWriter: writer, ctx: telemetry.WithRequestID(r.Context(), id)}
	w.set(requestIDHeader, id)
	a.protect(w, r)
	w.ofrep, w.rpc = strings.HasPrefix(r.URL.Path, ofrepPrefix), strings.HasPrefix(r.URL.Path, flagdService)
	if w.strict = !w.ofrep && !w.rpc && wantsStrict(r); w.strict {
		w.set("Preference-Applied", "handling=strict")
	}
	defer func() { a.finished(w, r, started) }()
	defer func() {
		if cause := recover(); cause != nil {
			a.recovered(w, r, cause)
		}
	}()
	if !isClean(r.URL.EscapedPath()) { // the mux would redirect
		a.servePage(w, r)
		return
	}
	a.mux.ServeHTTP(w, r)
}

// protect sets the headers that protect callers. It closes the connection after a chunked
// request, against request smuggling: the request may also have a Content-Length, which
// net/http hides, and a proxy before us may have used that to find the end of the request.
func (a *API) protect(w *recorder, r *http.Request) {
	w.set("X-Content-Type-Options", "nosniff")
	if a.isSecure(r) {
		w.set("Strict-Transport-Security", "max-age=31536000")
	}
	if len(r.TransferEncoding) > 0 {
		w.set("Connection", "close")
	}
}

// isClean reports whether a path is already in its cleaned form. The first check is
// cheap, and almost no path needs path.Clean after it.
func isClean(escaped string) bool {
	suspicious := strings.Contains(escaped, "//") || strings.Contains(escaped, "/.") || strings.HasSuffix(escaped, "/")
	return !suspicious && escaped != "" || path.Clean(escaped) == escaped
}

// finished counts and logs a request. The query is not logged, and keys in the path are hidden.
func (a *API) finished(w *recorder, r *http.Request, started time.Time) {
	route := r.Pattern
	if route == "" || route == everything {
		route = "none"
	}
	ended := w.begun
	if ended.IsZero() {
		ended = time.Now()
	}
	took := ended.Sub(started)
	a.Metrics.ObserveRequest(route, r.Method, w.status, took, w.bytes)
	level := w.logLevel()
	if !a.Log.Enabled(w.ctx, level) {
		return
	}
	// For every request, a Logger would get the time again and look up the calling code.
	line := slog.NewRecord(ended, level, "request", 0)
	line.AddAttrs(slog.String("method", r.Method), slog.String("route", route), slog.String("path", telemetry.Path(r)),
		slog.Int("status", w.status), slog.Int64("bytes", w.bytes), slog.Int64("took_us", took.Microseconds()),
		w.caller())
	_ = a.Log.Handler().Handle(w.ctx, line) // a Logger drops its error as well
}

// caller returns the sender of the request for the log: the id of a person or a key.
func (w *recorder) caller() slog.Attr {
	if w.userID != "" {
		return slog.String("user", w.userID)
	}
	return slog.String("key", w.keyID)
}

// logLevel returns the level of a request's log line: DEBUG for successes of frequent
// routes and for Not Modified, else INFO.
func (w *recorder) logLevel() slog.Level {
	if (w.ofrep || w.quiet) && w.status < http.StatusBadRequest || w.status == http.StatusNotModified {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// recovered answers a request whose handler panicked.
func (a *API) recovered(w *recorder, r *http.Request, cause any) {
	if cause == http.ErrAbortHandler { //nolint:errorlint // handlers panic with this very value
		w.status = statusGone
		panic(cause)
	}
	err := fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
	if w.status != 0 { // too late for an answer
		a.Log.ErrorContext(w.ctx, "A handler panicked after its answer began; the client got part of it. Please report this.", "error", err)
		return
	}
	a.writeError(w, r, err)
}

// everything is the pattern of requests that match no route.
const everything = "/"

// consolePages is the route of all files and pages of the console in logs and metrics.
const consolePages = "console"

// unrouted answers paths without a route, and methods that a path does not support.
func (a *API) unrouted(writer http.ResponseWriter, r *http.Request) {
	w := writer.(*recorder) // ServeHTTP always passes a recorder
	methods := a.allowed(r)
	if len(methods) == 0 {
		a.servePage(w, r)
		return
	}
	w.Header().Set("Allow", strings.Join(methods, ", "))
	detail := "This path supports " + listing(methods, "and") + "."
	if r.Method == http.MethodPost && r.URL.Path == loggersPath {
		detail += " A logger is created by PUT " + loggersPath + "/{id}, or reported by POST " + loggersPath + "/bulk."
	}
	a.writeError(w, r, fault.New(fault.MethodNotAllowed, "%s", detail))
}

// servePage answers with a page of the console or the book, if there is one.
func (a *API) servePage(w *recorder, r *http.Request) {
	if a.Console.Serve(w, r) {
		r.Pattern, w.quiet = consolePages, true
		return
	}
	a.writeError(w, r, fault.New(fault.NotFound, "There is nothing at this path. The interface is described at /api/openapi.json."))
}

// loggersPath has no POST, although callers expect one as for other lists.
const loggersPath = "/api/v1/loggers"

// allowed returns the methods that the path has a route for.
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

// endpoint serves one route: authorize, answer from the cache or by the handler,
// send.
func (a *API) endpoint(route route) http.Handler {
	route.access.class, route.access.counted = classOf(route)
	route.access.uuids = hasUUIDs(route.pattern)
	return http.HandlerFunc(func(writer http.ResponseWriter, r *http.Request) {
		w := writer.(*recorder) // ServeHTTP always passes a recorder
		ctx, endSpan := a.Tracing.StartRequest(w.ctx, r, route.pattern)
		w.ctx = ctx
		defer func() { endSpan(cmp.Or(w.status, http.StatusInternalServerError)) }()
		answer, err := a.answer(&route, w, r)
		if err != nil {
			a.writeError(w, r, err)
			return
		}
		a.write(w, r, answer)
	})
}

func (a *API) answer(route *route, w *recorder, r *http.Request) (reply, error) {
	c := &call{request: r, writer: w, uuids: route.access.uuids}
	w.quiet = route.access.quiet
	if route.access.rpc {
		if err := c.readSync(); err != nil {
			return reply{}, err
		}
	}
	if !route.access.open {
		if err := a.authorize(route.access, c); err != nil {
			return reply{}, err
		}
		w.keyID = c.caller.KeyID
		if c.caller.IsPerson() {
			w.userID = c.caller.UserID
		}
	}
	if route.access.cached {
		return a.cache.answer(c, func() (reply, error) {
			return a.admitted(route, c, func() (reply, error) { return run(route, c) })
		})
	}
	return a.admitted(route, c, func() (reply, error) { return a.runOnce(route, c) })
}

// changeHeader has the number of the change that a write has made: the one to revert. A write that changes nothing has none.
const changeHeader = "Signalbox-Change"

// run does the checks that all handlers rely on, and calls the route's handler.
func run(route *route, c *call) (reply, error) {
	var err error
	if c.query, err = jsonapi.ParseQuery(c.request.URL.RawQuery); err != nil {
		return reply{}, err
	}
	c.query.Strict = c.writer.strict
	c.id = c.stored(c.request.PathValue("id"))
	if !utf8.ValidString(c.id) || strings.ContainsRune(c.id, 0) { // no resource has such an id
		return reply{}, fault.New(fault.NotFound, "There is no resource with this id.")
	}
	if err := cmp.Or(c.readDryRun(route), c.readNote()); err != nil {
		return reply{}, err
	}
	c.caller.Made = &c.made
	result, err := route.handle(c)
	if err == nil {
		err = c.checkQuery() // handlers that write have done so before
	}
	if err != nil && c.bare {
		err = withoutEnvelope(err)
	}
	if err != nil {
		return reply{}, err
	}
	if c.made != 0 {
		c.writer.set(changeHeader, strconv.FormatInt(c.made, 10))
	}
	if single, isSingle := result.document.(jsonapi.Single); isSingle {
		single.Meta = jsonapi.NewMeta(c.body, c.caller.DryRun != nil)
		if c.caller.DryRun != nil {
			single.Meta.Summary = dryRunSummary(c.caller.DryRun.Changes)
		}
		result.document = single
	}
	return result.encode()
}

func (a *API) authorize(to access, c *call) error {
	if err := a.identify(c.ctx(), to, c); err != nil {
		return err
	}
	if c.caller.SessionID != "" {
		c.writer.set("Cache-Control", "private, no-cache") // a cookie alone does not keep the answer out of shared caches
	}
	if c.writer.ofrep && c.caller.Access == accounts.EvaluateAccess {
		allowPages(c.writer, c.request, c.caller.Origins)
	}
	if err := a.limits.take(c.caller); err != nil {
		return err
	}
	c.caller.Needs = to.needs
	return to.needs.Permit(c.caller)
}

// identify authenticates a request by its key, or by its session if there is no key. It
// writes the caller into the call, to avoid copies.
func (a *API) identify(ctx context.Context, to access, c *call) error {
	if to.token {
		return a.identifyFollower(ctx, c)
	}
	key, err := token(c.request, to)
	if err != nil {
		return err
	}
	key = cmp.Or(key, c.sync.key)
	if key != "" || to.inPath {
		return a.authenticate(ctx, to, c, key)
	}
	session := cookieValue(c.request, a.cookieName(c.request, sessionCookie))
	if session == "" {
		return fault.New(fault.Unauthorized, "Send an API key as Authorization: Bearer KEY, or sign in.")
	}
	if err := a.origins.check(c.request, to.socket); err != nil {
		return err
	}
	c.caller, err = a.Auth.AuthenticateSession(ctx, session, a.peers.of(c.request))
	return err
}

// header returns a header by its canonical name. Unlike Header.Get, it does not
// have to canonicalize the name.
func header(r *http.Request, name string) string {
	if values := r.Header[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// token returns the API key from a place where the route accepts it, or "".
func token(r *http.Request, to access) (string, error) {
	if to.inPath {
		return r.PathValue("token"), nil
	}
	if key := header(r, "X-Api-Key"); to.anyHeader && key != "" {
		return key, nil
	}
	if to.socket {
		if key := r.URL.Query().Get("api_key"); key != "" {
			return key, nil
		}
	}
	sent := header(r, "Authorization")
	scheme, token, _ := strings.Cut(sent, " ")
	switch token = strings.TrimSpace(token); {
	case sent == "":
		return "", nil
	case to.rpc && token == "": // metadata of gRPC has no schemes
		return scheme, nil
	case !strings.EqualFold(scheme, "Bearer") || token == "":
		return "", fault.New(fault.Unauthorized, "The Authorization header must be Bearer KEY.")
	}
	return token, nil
}
