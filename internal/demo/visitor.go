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

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/app"
)

// signedInFor is how long a visitor uses a session. The server ends sessions after twelve idle hours.
const signedInFor = 6 * time.Hour

// person is a user of the demo's account.
type person struct {
	Name    string        `json:"name"`
	Email   string        `json:"email"`
	Role    accounts.Role `json:"role"`
	At      age           `json:"at"`      // when the person was invited
	Browser string        `json:"browser"` // empty if the person has not accepted the invitation
}

// people returns the people of the account. The first is the owner.
func people() []person { return read[[]person]("people.json") }

// first returns the first name.
func (p person) first() string {
	name, _, _ := strings.Cut(p.Name, " ")
	return name
}

// visitor makes requests: a person with a session's cookie, as in the console, or a program with an API key.
type visitor struct {
	person
	id, key  string // of a program's API key
	api      http.Handler
	clock    *clock
	cookie   *http.Cookie
	signedIn time.Time
}

// makeOwner sets up the owner of the first account, and renames the account.
func (h *history) makeOwner(ctx context.Context, operator *app.Operator) error {
	existing, err := operator.Accounts(ctx)
	if err != nil {
		return err
	}
	h.account = existing[0].ID
	link, err := operator.SetupLink(ctx, existing[0].Key)
	if err != nil {
		return err
	}
	if err := h.admit(ctx, people()[0], link); err != nil {
		return err
	}
	_, err = h.owner().request(ctx, http.MethodPut, "accounts/current", document("accounts", "", map[string]string{"name": "Acme Shop"}))
	return err
}

func (h *history) owner() *visitor { return h.visitors[people()[0].first()] }

// invitations returns events that invite everybody except the owner. Most people accept at once.
func (h *history) invitations() (events []event) {
	for _, each := range people()[1:] {
		events = append(events, event{each.At, func(ctx context.Context) error {
			invitation, err := h.owner().send(ctx, http.MethodPost, "invitations", map[string]any{"email": each.Email, "role": each.Role})
			if err != nil || each.Browser == "" {
				return err
			}
			return h.admit(ctx, each, invitation.Attributes.Link)
		}})
	}
	return events
}

// admit makes a person follow a link, which sets their password and signs them in.
func (h *history) admit(ctx context.Context, who person, link string) error {
	parsed, err := url.Parse(link)
	if err != nil {
		return err
	}
	v := &visitor{person: who, api: h.api, clock: h.clock}
	h.visitors[who.first()] = v
	body := map[string]string{"token": parsed.Query().Get("token"), "name": who.Name, "password": Password}
	if who.Role == accounts.Owner { // an invitation has the address already
		body["email"] = who.Email
	}
	return v.open(ctx, "links/redeem", body)
}

// open sends a request that opens a session, and keeps the session's cookie.
func (v *visitor) open(ctx context.Context, path string, body any) error {
	response, err := v.exchange(ctx, http.MethodPost, prefix+path, body)
	if err != nil {
		return err
	}
	v.signedIn = v.clock.Now()
	v.cookie, err = http.ParseSetCookie(response.Header().Get("Set-Cookie"))
	return err
}

// leave ends the session, so that a visitor of the demo sees only their own session.
func (v *visitor) leave(ctx context.Context) error {
	_, err := v.exchange(ctx, http.MethodDelete, prefix+"sessions/current", nil)
	v.cookie = nil
	return err
}

// document returns the body of a write. It omits an empty id.
func document(kind, id string, attributes any) map[string]any {
	resource := map[string]any{"type": strings.TrimSuffix(kind, "s"), "attributes": attributes}
	if id != "" {
		resource["id"] = id
	}
	return map[string]any{"data": resource}
}

// answer has the members of a resource that the demo reads.
type answer struct {
	ID         string `json:"id"`
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

// prefix is the start of the API's paths.
const prefix = "/api/v1/"

// request sends a request to the API. If a person's session is old, the person signs in again first.
func (v *visitor) request(ctx context.Context, method, path string, body any) (*httptest.ResponseRecorder, error) {
	if v.key == "" && v.clock.Now().Sub(v.signedIn) > signedInFor {
		_ = v.leave(ctx) // the server may have ended the session
		if err := v.open(ctx, "sessions", map[string]string{"email": v.Email, "password": Password}); err != nil {
			return nil, err
		}
	}
	return v.exchange(ctx, method, prefix+path, body)
}

// exchange returns the response to a request. It returns the server's refusal as an error.
func (v *visitor) exchange(ctx context.Context, method, path string, body any) (*httptest.ResponseRecorder, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Prefer", "handling=strict")
	request.Header.Set("User-Agent", v.Browser)
	if v.key != "" {
		request.Header.Set("Authorization", "Bearer "+v.key)
	}
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
