package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/jsonlogic"
	"github.com/signalbox/signalbox/internal/admission"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// ofrepPrefix begins every path of the OpenFeature Remote Evaluation Protocol. These
// paths have their own form of errors, and browsers may call them. They are so frequent
// that successes are logged at DEBUG only.
const ofrepPrefix = "/ofrep/"

// maxContext bounds the context: every rule of every flag may read all of it.
const maxContext = 64 << 10

// environmentHeader names the environment when the key is not restricted to one.
const environmentHeader = "X-Signalbox-Environment"

// The error codes of OpenFeature that this package answers with.
const (
	ofrepParseError     = "PARSE_ERROR"
	ofrepInvalidContext = "INVALID_CONTEXT"
	ofrepGeneral        = "GENERAL"
)

// evaluationSize is enough for the evaluation of most flags.
const evaluationSize = 256

const (
	cannotServe  = "This flag cannot be served."
	tooManySteps = "The rules take more steps than one request may use. Simplify the loops of the rules, or evaluate fewer flags at once."
)

// whyNot returns the reason why a flag has no value.
func whyNot(code flageval.Code) string {
	if code == flageval.General {
		return tooManySteps
	}
	return cannotServe
}

// ofrepError is an error of the OpenFeature Remote Evaluation Protocol.
type ofrepError struct {
	Key     string `json:"key,omitempty"`
	Code    string `json:"errorCode,omitempty"`
	Details string `json:"errorDetails"`
}

// ofrepRequest is the input of both evaluation endpoints.
type ofrepRequest struct {
	snapshot    *flags.Snapshot
	environment string
	context     jsonlogic.Value
	steps       *jsonlogic.Steps // for the rules of all evaluated flags
	since       time.Time        // when the flags were last known to be current, if the database is away
}

func (r *ofrepRequest) evaluate(key string) flageval.Evaluation {
	return r.snapshot.Evaluate(r.steps, r.environment, key, r.context)
}

// ofrepFlag evaluates one flag.
func (a *API) ofrepFlag(c *call) (reply, error) {
	key := c.request.PathValue("key")
	request, err := a.ofrepRequest(c)
	if err != nil {
		return reply{}, err
	}
	decided, err := a.evaluated(c, request, key)
	if err != nil {
		return reply{}, err
	}
	if decided.Code == flageval.None {
		a.Evaluations.Note(c.caller.Account, request.environment, observations.Evaluated{Flag: key, Value: decided.Raw()})
		body := appendEvaluation(make([]byte, 0, evaluationSize), request.snapshot, key, decided, sinceText(request.since))
		return reply{status: http.StatusOK, body: body, mediaType: plainJSON, since: request.since}, nil
	}
	failure := reply{status: http.StatusBadRequest, document: ofrepError{key, decided.Code.String(), whyNot(decided.Code)}, mediaType: plainJSON, since: request.since}
	if decided.Code == flageval.FlagNotFound {
		failure.status = http.StatusNotFound
		failure.document = ofrepError{key, decided.Code.String(), "There is no managed flag with this key."}
	}
	return failure, nil
}

// evaluated evaluates a flag when the node has time for it.
func (a *API) evaluated(c *call, request ofrepRequest, key string) (flageval.Evaluation, error) {
	leave, err := a.queue.Enter(c.ctx(), admission.Evaluations, c.caller.Account)
	if err != nil {
		return flageval.Evaluation{}, err
	}
	defer leave()
	return request.evaluate(key), nil
}

// ofrepFlags evaluates all flags. The ETag is a hash of the whole response, so
// that a polling client gets a 304 while nothing changed for its context, and a
// new URL of the event stream when the old one has expired.
func (a *API) ofrepFlags(c *call) (reply, error) {
	request, err := a.ofrepRequest(c)
	if err != nil {
		return reply{}, err
	}
	leave, err := a.queue.Enter(c.ctx(), admission.Evaluations, c.caller.Account)
	if err != nil {
		return reply{}, err
	}
	defer leave()
	keys := request.snapshot.Keys()
	body, evaluated := []byte(`{"flags":[`), make([]observations.Evaluated, 0, len(keys))
	for i, key := range keys {
		if err := c.ctx().Err(); err != nil { // the caller left
			return reply{}, err
		}
		if i > 0 {
			body = append(body, ',')
		}
		decided := request.evaluate(key)
		body = appendResult(body, request.snapshot, key, decided)
		if decided.Code == flageval.None {
			evaluated = append(evaluated, observations.Evaluated{Flag: key, Value: decided.Raw()})
		}
	}
	a.Evaluations.Note(c.caller.Account, request.environment, evaluated...)
	body = append(append(body, `],"metadata":`...), metadata(false, sinceText(request.since))...)
	body = append(append(body, a.eventStreams(c, request.environment)...), '}')
	return reply{status: http.StatusOK, body: body, mediaType: plainJSON, etag: hashed(body), since: request.since}, nil
}

func appendResult(body []byte, snapshot *flags.Snapshot, key string, decided flageval.Evaluation) []byte {
	if decided.Code == flageval.None {
		return appendEvaluation(body, snapshot, key, decided, "")
	}
	return append(body, `{"key":"`+key+`","errorCode":"`+decided.Code.String()+`","errorDetails":"`+whyNot(decided.Code)+`"}`...)
}

// appendEvaluation writes a successful evaluation. A flag's key needs no escaping.
// since is empty unless the database is away.
func appendEvaluation(body []byte, snapshot *flags.Snapshot, key string, decided flageval.Evaluation, since string) []byte {
	body = append(append(body, `{"key":"`...), key...)
	reason, disabled := decided.Reason, decided.Reason == flageval.Disabled
	if disabled { // some providers discard the value if the reason is DISABLED
		reason = flageval.Static
	}
	body = append(append(body, `","reason":"`...), reason.String()...)
	value, variant := snapshot.Sent(key, decided.Raw())
	body = append(body, `","variant":`...)
	body = appendVariant(body, variant, decided)
	body = append(append(body, `,"value":`...), value...)
	body = append(append(body, `,"metadata":`...), metadata(disabled, since)...)
	return append(body, '}')
}

// metadata returns the metadata of an evaluation as JSON.
func metadata(disabled bool, since string) string {
	switch {
	case since == "" && !disabled:
		return `{}`
	case since == "":
		return `{"disabled":true}`
	case !disabled:
		return `{"stale_since":` + since + `}`
	}
	return `{"disabled":true,"stale_since":` + since + `}`
}

// appendVariant writes the name of the value. For a value without a name it writes the
// source of the value, because some providers fail without a variant.
func appendVariant(body []byte, name json.RawMessage, decided flageval.Evaluation) []byte {
	switch {
	case name != nil:
		return append(body, name...)
	case decided.Rule != flageval.NoRule:
		return append(strconv.AppendInt(append(body, `"rule-`...), int64(decided.Rule), 10), '"')
	case decided.EnvironmentDefault:
		return append(body, `"environment"`...)
	}
	return append(body, `"default"`...)
}

// ofrepRequest reads the context and finds the environment and the flags.
func (a *API) ofrepRequest(c *call) (ofrepRequest, error) {
	context, err := c.ofrepContext()
	if err != nil {
		return ofrepRequest{}, err
	}
	snapshot, since, err := a.evaluatedFlags(c)
	if err != nil {
		return ofrepRequest{}, err
	}
	environment := header(c.request, environmentHeader)
	if environment == "" && len(c.caller.Environments) == 1 {
		environment = c.caller.Environments[0]
	}
	if err := c.caller.RequireEvaluation(environment); err != nil {
		return ofrepRequest{}, err
	}
	if environment == "" {
		return ofrepRequest{}, ofrepRefusal(ofrepGeneral, "Name an environment in "+environmentHeader+", or use a key restricted to one.")
	}
	if missing := snapshot.MissingEnvironment(environment); missing != nil {
		return ofrepRequest{}, missing.With("errorCode", ofrepGeneral)
	}
	return ofrepRequest{snapshot, environment, context, jsonlogic.NewSteps(flags.RequestSteps), since}, nil
}

// evaluatedFlags returns the caller's flags. While the database is away, it returns the
// flags in memory and when they were last known to be current.
//
// A request that an event has caused names the event's change. While the database is away, such a
// request is refused rather than answered with older flags: its client would not ask again before
// the next event.
func (a *API) evaluatedFlags(c *call) (snapshot *flags.Snapshot, since time.Time, err error) {
	caused, err := c.flagConfigEtag()
	if err != nil {
		return nil, since, err
	}
	account := c.caller.Account
	if !c.stale {
		err = a.outage.ask(c.ctx(), func(ctx context.Context) error {
			version, err := a.versionWith(ctx, c, caused)
			if err == nil {
				snapshot, err = a.FlagSnapshots.Get(ctx, account, version)
			}
			return err
		})
		if err == nil {
			a.outage.confirm(account)
		}
		if !isAway(c.ctx(), err) {
			return snapshot, time.Time{}, err
		}
	}
	snapshot, since = a.FlagSnapshots.Held(account), a.outage.since(account)
	if snapshot == nil || since.IsZero() || isTooOld(since) || !snapshot.Includes(caused) {
		return nil, since, cmp.Or(err, errAway())
	}
	return snapshot, since, nil
}

// versionWith returns a version of the caller's account that includes the change that caused the
// request. A number that the history does not have is ignored: the database may have been restored
// to an earlier state.
func (a *API) versionWith(ctx context.Context, c *call, caused int64) (int64, error) {
	if caused <= c.caller.Version {
		return c.caller.Version, nil
	}
	news, err := a.History.EventsAfter(ctx, c.caller.Account, caused-1, 1)
	if err != nil || len(news) == 0 {
		return c.caller.Version, err
	}
	return caused, nil
}

// errAway returns the refusal of a request that needs the database while it is away.
func errAway() error {
	return fault.New(fault.Unavailable, "The database cannot be reached right now, and this node does not have the requested data in memory. Try again in a moment.")
}

// ofrepContext turns the context of a request into the context for rules. A member
// that is an object becomes the context type of that name, targetingKey becomes
// user.key unless the request has one, and other members become attributes of user.
func (c *call) ofrepContext() (jsonlogic.Value, error) {
	c.request.Body = http.MaxBytesReader(c.writer, c.request.Body, maxContext)
	text, err := jsonapi.ReadBody(c.writer, c.request)
	if fault.Is(err, fault.PayloadTooLarge) && c.request.ContentLength <= jsonapi.MaxBody {
		return jsonlogic.Value{}, ofrepRefusal(ofrepInvalidContext, fmt.Sprintf("The body must have at most %d bytes.", maxContext))
	}
	if err != nil {
		return jsonlogic.Value{}, err
	}
	if len(text) == 0 {
		return jsonlogic.Object(), nil
	}
	body, portable, err := jsonlogic.ParsePortable(text, rawjson.MaxDepth)
	if err != nil || body.Kind() != jsonlogic.KindObject || !portable && !utf8.Valid(text) {
		return jsonlogic.Value{}, ofrepRefusal(ofrepParseError, `The body must be a JSON object such as {"context": {"targetingKey": "alice"}}.`)
	}
	if !portable { // then Unreadable finds the reason: both have the same rules
		return jsonlogic.Value{}, jsonapi.Unreadable(text).With("errorCode", ofrepParseError)
	}
	sent := body.Get("context")
	switch sent.Kind() {
	case jsonlogic.KindUndefined, jsonlogic.KindNull:
		return jsonlogic.Object(), nil
	case jsonlogic.KindObject:
		return evaluationContext(sent), nil
	default:
		return jsonlogic.Value{}, ofrepRefusal(ofrepInvalidContext, `The context must be an object such as {"targetingKey": "alice"}.`)
	}
}

func evaluationContext(sent jsonlogic.Value) jsonlogic.Value {
	var space [2][8]jsonlogic.Member // on the stack; enough for most contexts
	members, user := space[0][:0], space[1][:0]
	if key := sent.Get("targetingKey"); key.Kind() != jsonlogic.KindUndefined {
		user = append(user, jsonlogic.Member{Key: "key", Value: key})
	}
	for _, member := range sent.Members() {
		switch {
		case member.Key == "targetingKey":
			members = append(members, member)
		case member.Value.Kind() != jsonlogic.KindObject:
			user = append(user, member)
		case member.Key != "user":
			members = append(members, member)
		}
	}
	// Members of the caller's own user object come last and win.
	if given := sent.Get("user"); given.Kind() == jsonlogic.KindObject {
		user = append(user, given.Members()...)
	}
	if len(user) > 0 {
		members = append(members, jsonlogic.Member{Key: "user", Value: jsonlogic.Object(user...)})
	}
	return jsonlogic.Object(members...)
}

// ofrepRefusal returns a refusal with an error code of OpenFeature.
func ofrepRefusal(code, detail string) error {
	return fault.New(fault.Validation, "%s", detail).With("errorCode", code)
}

// ofrepErrors renders an error in the form of the protocol; key is "" when the
// request was for all flags.
func ofrepErrors(key string, status int, first jsonapi.ErrorObject) ofrepError {
	if status != http.StatusBadRequest { // not about the evaluation
		return ofrepError{Details: first.Detail}
	}
	code, coded := first.Meta["errorCode"].(string)
	if !coded {
		code = ofrepGeneral
	}
	return ofrepError{Key: key, Code: code, Details: first.Detail}
}

// allowPages lets the web page that sent the request read the answer, if its origin is
// in allowed; nil allows any origin. No cookies are involved: the key is the permission.
// Only browsers send Origin.
func allowPages(w *recorder, r *http.Request, allowed []string) {
	origin := header(r, "Origin")
	if allowed != nil {
		w.vary("Origin")
	}
	if origin == "" || allowed != nil && !slices.Contains(allowed, origin) {
		return
	}
	if allowed == nil {
		origin = "*"
	}
	w.set("Access-Control-Allow-Origin", origin)
	w.set("Access-Control-Expose-Headers", "Age, ETag, Retry-After, X-Request-Id")
}

// evaluationHeaders are the headers that a web page may send with an evaluation.
const evaluationHeaders = "Authorization, X-API-Key, Content-Type, If-None-Match, " + environmentHeader

// ofrepPreflight answers the preflight request of a browser. A preflight has no key, so
// all origins are allowed.
func ofrepPreflight(method, headers string) handler {
	return func(c *call) (reply, error) {
		allowPages(c.writer, c.request, nil)
		c.writer.set("Access-Control-Allow-Methods", method+", OPTIONS")
		c.writer.set("Access-Control-Allow-Headers", headers)
		c.writer.set("Access-Control-Max-Age", "86400")
		return reply{status: http.StatusNoContent}, nil
	}
}
