package signalbox

import (
	"context"
	"iter"
	"time"
)

// Invitation lets somebody become a user of the account. Accepting an invitation removes it.
type Invitation struct {
	Resource
	Email     string    `json:"email"`
	Role      Role      `json:"role"`
	CreatedBy string    `json:"created_by"` // the id of a user
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	// Link is for the invited person. Only the response to Create has it.
	Link string `json:"link"`
}

// InvitationDraft invites somebody.
type InvitationDraft struct {
	Email string `json:"email"`
	// Role is MEMBER when it is empty.
	Role Role `json:"role,omitempty"`
}

// InvitationParams select invitations and a page of them.
type InvitationParams struct{ SearchParams }

// InvitationsAPI invites people. It needs the role ADMIN, or OWNER for OWNERs.
type InvitationsAPI struct {
	invitations collection[Invitation, *Invitation]
}

// Get returns an invitation without its link. [IsNotFound] reports that it was accepted, was deleted or never existed.
// It needs the role ADMIN.
func (a InvitationsAPI) Get(ctx context.Context, id string) (Invitation, error) {
	return a.invitations.get(ctx, id)
}

// List returns one page of the open and the expired invitations, by default in the order of their e-mail addresses.
// [Paging.Sort] takes email, role, created_at and expires_at. It needs the role ADMIN.
func (a InvitationsAPI) List(ctx context.Context, params InvitationParams) (Page[Invitation], error) {
	return a.invitations.list(ctx, params)
}

// All iterates over every invitation that params select, starting at their page. It ends after the first error.
func (a InvitationsAPI) All(ctx context.Context, params InvitationParams) iter.Seq2[Invitation, error] {
	return a.invitations.all(ctx, params)
}

// Create invites somebody. Only its response has the link, which works for 7 days.
func (a InvitationsAPI) Create(ctx context.Context, draft InvitationDraft, options ...WriteOption) (Invitation, error) {
	return a.invitations.create(ctx, "", draft, options)
}

// Delete deletes an invitation; its link stops working.
func (a InvitationsAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	return a.invitations.delete(ctx, id, options)
}
