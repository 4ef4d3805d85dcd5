package api

import (
	"net/http"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/jsonapi"
)

func invitationResource() resource[accounts.Invitation, accounts.InvitationDraft, accounts.InvitationFilter] {
	return describe(accounts.KindInvitation, func(i accounts.Invitation) (string, any) { return i.ID, i }, invitationFilter, invitationDraft)
}

func invitationFilter(c *call) accounts.InvitationFilter {
	return accounts.InvitationFilter{Search: c.query.Search()}
}

func invitationDraft(envelope *jsonapi.Envelope) accounts.InvitationDraft {
	draft := accounts.InvitationDraft{Email: envelope.Attributes.String("email"), Role: envelope.Attributes.String("role")}
	draft.Problems = envelope.Done()
	return draft
}

// newInvitation is the answer to the creation of an invitation.
type newInvitation struct {
	accounts.Invitation
	Link string `json:"link"` // shown once
}

// Definition returns the invitation without its link.
func (n newInvitation) Definition() any { return n.Invitation }

func (a *API) invite(c *call) (reply, error) {
	envelope, err := c.envelopeOrBare(accounts.KindInvitation)
	if err != nil {
		return reply{}, err
	}
	envelope.Attributes.Know(invitationResource().shown()...)
	envelope.Attributes.Know("link") // callers may send the response of a creation back
	invitation, err := a.Accounts.Invite(c.ctx(), c.caller, invitationDraft(envelope))
	if err != nil {
		return reply{}, err
	}
	return one(http.StatusCreated, jsonapi.Resource{ID: invitation.ID, Type: accounts.KindInvitation,
		Attributes: newInvitation{invitation, a.link(c, accounts.JoinLink, invitation.Token)}}, nil)
}

func linkResource() resource[accounts.Link, none, accounts.LinkFilter] {
	return describe(accounts.KindLink, func(link accounts.Link) (string, any) { return link.ID, link }, linkFilter, noDraft)
}

func linkFilter(c *call) accounts.LinkFilter {
	return accounts.LinkFilter{User: c.query.Filter("user").Or("")}
}
