package api

import (
	"net/http"
	"net/url"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/jsonapi"
)

func userResource() resource[accounts.User, accounts.UserDraft, accounts.UserFilter] {
	user := describe(accounts.KindUser, func(user accounts.User) (string, any) { return user.ID, user }, userFilter, userDraft)
	user.mayBeBare = true
	return user
}

func userFilter(c *call) accounts.UserFilter {
	return accounts.UserFilter{Search: c.query.Search(), Role: oneOf(c, "role", accounts.Roles()...)}
}

func userDraft(envelope *jsonapi.Envelope) accounts.UserDraft {
	attributes := envelope.Attributes
	attributes.Know("link", "link_expires_at") // callers may send the response of a password reset back
	draft := accounts.UserDraft{Email: attributes.String("email"), Name: attributes.String("name"), Role: attributes.String("role")}
	draft.Problems = envelope.Done()
	return draft
}

// resetAttributes is a user with the link that resets their password.
type resetAttributes struct {
	accounts.User
	Link          string    `json:"link"` // shown once
	LinkExpiresAt time.Time `json:"link_expires_at"`
}

// Definition returns the user without the link.
func (r resetAttributes) Definition() any { return r.User }

func (a *API) resetPassword(c *call) (reply, error) {
	if err := c.nothing(); err != nil {
		return reply{}, err
	}
	reset, err := a.Accounts.ResetPassword(c.ctx(), c.caller, c.id)
	if err != nil {
		return reply{}, err
	}
	return one(http.StatusOK, jsonapi.Resource{ID: reset.User.ID, Type: accounts.KindUser, Attributes: resetAttributes{
		User: reset.User, Link: a.link(c, accounts.ResetLink, reset.Token), LinkExpiresAt: reset.ExpiresAt}}, nil)
}

// link returns the URL of a page that redeems a token.
func (a *API) link(c *call, kind accounts.LinkKind, token string) string {
	return a.baseURL(c) + "/" + string(kind) + "?token=" + url.QueryEscape(token)
}

func (a *API) changePassword(c *call) (reply, error) {
	envelope, err := c.envelopeOrBare("password")
	if err != nil {
		return reply{}, err
	}
	draft := accounts.PasswordDraft{Peer: a.peers.of(c.request),
		Current: envelope.Attributes.Text("current_password"), Password: envelope.Attributes.Text("password")}
	draft.Problems = envelope.Done()
	user, err := a.Accounts.ChangePassword(c.ctx(), c.caller, draft, ifMatch(c, userResource().document))
	return userResource().answer(http.StatusOK, user, err)
}
