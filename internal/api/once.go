package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/admission"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/once"
)

// keepTimeout bounds how long it takes to keep an answer, also if the caller has left.
const keepTimeout = 5 * time.Second

// runOnce runs a route's handler. A request with an idempotency key that was carried out
// before gets the first answer.
func (a *API) runOnce(route *route, c *call) (reply, error) {
	key, sent := header(c.request, "Idempotency-Key"), len(c.request.Header.Values("Idempotency-Key")) > 0
	if !sent || route.access.open || !strings.HasPrefix(route.pattern, "POST /api/v1/") {
		return run(route, c)
	}
	request, err := c.onceRequest(key)
	if err != nil {
		return reply{}, err
	}
	ticket, kept, err := a.Once.Begin(c.ctx(), request)
	if err != nil {
		return reply{}, err
	}
	if kept != nil {
		c.writer.set("Idempotency-Replayed", "true")
		return reply{status: kept.Status, mediaType: kept.MediaType, etag: kept.ETag, body: kept.Body, length: strconv.Itoa(len(kept.Body))}, nil
	}
	c.caller.Once = ticket
	answer, err := run(route, c)
	a.settle(c.ctx(), *ticket, answer, err == nil && isKept(route, answer))
	return answer, err
}

// mostOfReport bounds the bytes of an answer to a report or an evaluation that is kept.
const mostOfReport = 16 << 10

// isKept reports whether an answer may be kept. Short reports and evaluations can have long answers, with which a caller that
// may only read could fill the disk. They may be sent again.
func isKept(to *route, answer reply) bool {
	repeatable := to.access.class == admission.Observations || to.access.class == admission.Lists
	return !repeatable || len(answer.body) <= mostOfReport
}

// settle keeps the answer to a request that was carried out, or lets the request be sent again.
func (a *API) settle(ctx context.Context, ticket once.Ticket, answer reply, kept bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTimeout)
	defer cancel()
	var err error
	if kept {
		err = a.Once.Finish(ctx, ticket, once.Answer{Status: answer.status, MediaType: answer.mediaType, ETag: answer.etag, Body: answer.body})
	} else {
		err = a.Once.Release(ctx, ticket)
	}
	if err != nil {
		a.Log.WarnContext(ctx, "The answer to a request with an Idempotency-Key could not be kept; if the request is repeated, the answer says so.", "error", err)
	}
}

// onceRequest reads the whole request, to tell it from others with the same key.
func (c *call) onceRequest(key string) (once.Request, error) {
	if key == "" || !utf8.ValidString(key) || utf8.RuneCountInString(key) > once.MaxKey {
		return once.Request{}, fault.New(fault.Validation, "The header Idempotency-Key must have 1 to %d characters.", once.MaxKey)
	}
	text, err := jsonapi.ReadBody(c.writer, c.request)
	if err == nil && c.enter != nil {
		err = c.enter()
	}
	if err != nil {
		return once.Request{}, err
	}
	c.request.Body = io.NopCloser(bytes.NewReader(text))
	body := sha256.Sum256(text)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %q %x", http.MethodPost, c.request.URL.RequestURI(), body))
	return once.Request{Account: c.caller.Account, Caller: c.caller.Actor().ID, Key: key, Fingerprint: hex.EncodeToString(sum[:])}, nil
}
