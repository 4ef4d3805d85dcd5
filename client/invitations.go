package signalbox

import (
	"context"
	"time"
)

// Invitation lets somebody become a user of the account. It is gone once it is accepted.
type Invitation struct {
	Resource
	Email     string    `json:"email"`
	Role      Role      `json:"role"`
	CreatedBy string    `json:"created_by"` // the id of a user
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	// Link is what to give to the person. Only the response to Create has it.
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
	reader[Invitation, *Invitation, InvitationParams]
}

// Create invites somebody and returns the link, once. It works for 7 days.
func (a InvitationsAPI) Create(ctx context.Context, draft InvitationDraft, options ...WriteOption) (Invitation, error) {
	return a.create(ctx, "", draft, options)
}

// Delete takes an invitation back.
func (a InvitationsAPI) Delete(ctx context.Context, id string, options ...WriteOption) error {
	return a.delete(ctx, id, options)
}
