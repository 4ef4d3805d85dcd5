package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/connections"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/rawjson"
)

const (
	// eventStreamPath is the path of event streams. It is below the paths of OFREP, whose rules it follows.
	eventStreamPath = "/ofrep/v1/events"
	// inactivityDelay is the time in seconds after which clients should close the stream of a hidden page.
	inactivityDelay = 120
	tokenParameter  = "token"
)

// eventStream opens an event stream: the push of OFREP. Its token names the key and the environment.
func (a *API) eventStream(c *call) (reply, error) {
	c.query.Know(tokenParameter)
	if err := c.caller.RequireEvaluation(c.environment); err != nil {
		return reply{}, err
	}
	if c.request.Method == http.MethodHead {
		return reply{status: http.StatusOK, mediaType: "text/event-stream"}, nil
	}
	c.writer.streams = true
	wanted := connections.Following{Environment: c.environment, LastEventID: header(c.request, "Last-Event-Id")}
	err := a.Events.Follow(c.writer, c.request, c.caller, wanted, func(ctx context.Context) (accounts.Caller, error) {
		again := &call{request: c.request}
		if err := a.identify(ctx, follows(), again); err != nil {
			return accounts.Caller{}, err
		}
		return again.caller, again.caller.RequireEvaluation(again.environment)
	})
	if err != nil {
		return reply{}, err
	}
	return reply{raw: http.HandlerFunc(streamed)}, nil
}

// streamed records the status of a connection that became an event stream.
func streamed(w http.ResponseWriter, _ *http.Request) { w.(*recorder).status = http.StatusOK }

// identifyFollower finds the key behind the token of an event stream.
func (a *API) identifyFollower(ctx context.Context, c *call) error {
	token := c.request.URL.Query().Get(tokenParameter)
	if token == "" {
		return fault.New(fault.Unauthorized, "This path takes no API key. It takes the token of a URL that POST /ofrep/v1/evaluate/flags returns in eventStreams.")
	}
	claim, err := a.streamTokens.read(token)
	if err != nil {
		return err
	}
	c.environment = claim.environment
	c.caller, err = a.Auth.AuthenticateKey(ctx, claim.account, claim.key)
	return err
}

// eventStreams returns the member of bulk answers that announces the event stream of a key in an environment, as JSON.
// Sessions have none, because a stream would outlive its session.
func (a *API) eventStreams(c *call, environment string) string {
	if c.caller.KeyID == "" || c.caller.SessionID != "" || a.Signer == nil {
		return ""
	}
	token := a.streamTokens.make(streamClaim{account: c.caller.Account, key: c.caller.KeyID, environment: environment})
	url, _ := rawjson.Encode(a.baseURL(c) + eventStreamPath + "?" + tokenParameter + "=" + token) // a string always encodes
	return `,"eventStreams":[{"type":"sse","url":` + string(url) + `,"inactivityDelaySec":` + strconv.Itoa(inactivityDelay) + `}]`
}

// flagConfigEtag returns the change that an evaluation must include: the etag of the event that caused the request. It
// returns 0 if the request was not caused by an event.
func (c *call) flagConfigEtag() (int64, error) {
	text := strings.Trim(c.query.Values().Get("flagConfigEtag"), `"`)
	if text == "" {
		return 0, nil
	}
	seq, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seq < 0 {
		return 0, ofrepRefusal(ofrepGeneral, "flagConfigEtag must be the etag of an event of this server, which is a whole number such as 42.")
	}
	return seq, nil
}
