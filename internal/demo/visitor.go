package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/app"
)

// signedInFor is how long a visitor's session is used; the server ends those that are idle for twelve hours.
const signedInFor = 6 * time.Hour

// visitor is a person who makes requests as the console does, with the cookie of a session.
type visitor struct {
	person
	api      http.Handler
	clock    *clock
	cookie   *http.Cookie
	signedIn time.Time
}

// invite makes the people of the account, and the key of the programs. It returns them by their first names.
func (d *demo) invite(ctx context.Context, server *app.App) (map[string]*visitor, error) {
	operator := server.Operator()
	existing, err := operator.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	d.account = existing[0].ID
	link, err := operator.SetupLink(ctx, existing[0].Key)
	if err != nil {
		return nil, err
	}
	visitors := map[string]*visitor{}
	for i, each := range people() {
		first, _, _ := strings.Cut(each.name, " ")
		v := &visitor{person: each, api: server.Handler(), clock: d.clock}
		visitors[first] = v
		if i > 0 {
			invitation, err := visitors["Ada"].send(ctx, http.MethodPost, "invitations", map[string]any{"email": each.email, "role": each.role})
			if err != nil {
				return nil, err
			}
			link = invitation.Attributes.Link
		}
		if err := v.redeem(ctx, link, i == 0); err != nil {
			return nil, err
		}
	}
	if _, err := visitors["Ada"].send(ctx, http.MethodPut, "accounts/current", document("account", "", map[string]string{"name": "Acme Shop"})); err != nil {
		return nil, err
	}
	key, err := visitors["Ada"].send(ctx, http.MethodPost, "api_keys", document("api_key", "", map[string]string{"name": "Services", "role": "MEMBER"}))
	d.key = key.Attributes.Key
	return visitors, err
}

// arrange puts the environments in the order of deployments. Settings are a bare object in plain JSON.
func (v *visitor) arrange(ctx context.Context) error {
	order := map[string]any{"environment_order": []string{"development", "staging", "production"}}
	_, err := v.send(ctx, http.MethodPut, "accounts/current/settings", order)
	return err
}

// redeem sets the visitor's password with a link, which signs them in.
func (v *visitor) redeem(ctx context.Context, link string, isFirst bool) error {
	parsed, err := url.Parse(link)
	if err != nil {
		return err
	}
	body := map[string]string{"token": parsed.Query().Get("token"), "name": v.name, "password": Password}
	if isFirst {
		body["email"] = v.email
	}
	return v.open(ctx, "links/redeem", body)
}

// open makes a request that answers with a session, and keeps its cookie.
func (v *visitor) open(ctx context.Context, path string, body any) error {
	v.cookie = nil
	response, err := v.exchange(ctx, http.MethodPost, path, body)
	if err != nil {
		return err
	}
	v.signedIn = v.clock.Now()
	v.cookie, err = http.ParseSetCookie(response.Header().Get("Set-Cookie"))
	return err
}

// write writes one version of a resource.
func (v *visitor) write(ctx context.Context, w write) error {
	method, path := http.MethodPut, w.kind+"/"+w.id
	if w.create && w.kind != "loggers" && w.id != "production" && w.id != "staging" && w.id != "common" {
		method, path = http.MethodPost, w.kind
	}
	_, err := v.send(ctx, method, path, document(strings.TrimSuffix(w.kind, "s"), w.id, w.Attributes))
	return err
}

// document is the body of a write; an empty id is left out.
func document(kind, id string, attributes any) map[string]any {
	resource := map[string]any{"type": kind, "attributes": attributes}
	if id != "" {
		resource["id"] = id
	}
	return map[string]any{"data": resource}
}

// answer is what the demo reads of a resource.
type answer struct {
	Attributes struct {
		Link string `json:"link"`
		Key  string `json:"key"`
	} `json:"attributes"`
}

// send makes a request and returns the resource of the response.
func (v *visitor) send(ctx context.Context, method, path string, body any) (answer, error) {
	var answered struct {
		Data answer `json:"data"`
	}
	response, err := v.request(ctx, method, path, body)
	if err != nil {
		return answer{}, err
	}
	err = json.NewDecoder(response.Body).Decode(&answered)
	return answered.Data, err
}

// request is an exchange, after signing in again if that was long ago.
func (v *visitor) request(ctx context.Context, method, path string, body any) (*httptest.ResponseRecorder, error) {
	if v.clock.Now().Sub(v.signedIn) > signedInFor {
		if err := v.open(ctx, "sessions", map[string]string{"email": v.email, "password": Password}); err != nil {
			return nil, err
		}
	}
	return v.exchange(ctx, method, path, body)
}

// exchange returns the response to a request, or what the server objects to.
func (v *visitor) exchange(ctx context.Context, method, path string, body any) (*httptest.ResponseRecorder, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, "/api/v1/"+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Prefer", "handling=strict")
	if v.cookie != nil {
		request.AddCookie(v.cookie)
	}
	response := httptest.NewRecorder()
	v.api.ServeHTTP(response, request)
	if response.Code >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("%s %s: %d: %s", method, path, response.Code, response.Body)
	}
	return response, nil
}
