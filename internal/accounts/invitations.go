package accounts

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/page"
)

// KindInvitation is the JSON:API type of an invitation.
const KindInvitation = "invitation"

const (
	invitationAge = 7 * 24 * time.Hour
	// maxInvitations bounds the open invitations of an account.
	maxInvitations = 1000
)

// Invitation lets a person become a user of an account. Accepting it deletes it.
type Invitation struct {
	ID      string `json:"-"`
	Account string `json:"-"`
	Email   string `json:"email"`
	Address string `json:"-"` // the e-mail address in the form for comparisons
	// Token is the plaintext of the link. Only the result of Invite has it.
	Token     string    `json:"-"`
	Role      Role      `json:"role"`
	CreatedBy string    `json:"created_by"` // a user's id
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// InvitationFilter narrows a list of invitations.
type InvitationFilter struct {
	Search  string // a part of the e-mail address or the id
	Address string // the whole e-mail address in the form for comparisons
}

// InvitationDraft is the invitation that a caller asks for.
type InvitationDraft struct {
	Email optional.Value[string]
	Role  optional.Value[string]
	// Problems are the problems found while reading the input.
	Problems fault.Problems
}

// Invitations lists the invitations of the caller's account. It requires ADMIN or OWNER.
func (s *Service) Invitations(ctx context.Context, caller Caller, filter InvitationFilter, request page.Request) (page.List[Invitation], error) {
	return List(ctx, s.Store, caller, ReadTx.Invitations, filter, request)
}

// Invitation returns one invitation of the caller's account. It requires ADMIN or OWNER.
func (s *Service) Invitation(ctx context.Context, caller Caller, id string) (Invitation, error) {
	return Get(ctx, s.Store, caller, ReadTx.Invitation, id)
}

// Invite invites a person with at most the role of the caller. It requires ADMIN or OWNER.
func (s *Service) Invite(ctx context.Context, caller Caller, draft InvitationDraft) (Invitation, error) {
	return Write(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller Caller) (Invitation, error) {
		if err := caller.requireLasting(); err != nil {
			return Invitation{}, err
		}
		return Invite(ctx, tx, caller, caller.Actor(), draft)
	})
}

// Invite creates an invitation and its link with the rights of caller. The history names
// actor.
func Invite(ctx context.Context, tx Tx, caller Caller, actor changes.Actor, draft InvitationDraft) (Invitation, error) {
	invitation, err := draft.invitation(tx, caller)
	if err != nil {
		return Invitation{}, err
	}
	if err := requireNew(ctx, tx, invitation); err != nil {
		return Invitation{}, err
	}
	if err := tx.InsertInvitation(ctx, invitation); err != nil {
		return Invitation{}, err
	}
	invitation.Token, err = saveLink(ctx, tx, Link{Account: caller.Account, Kind: JoinLink, Subject: invitation.ID,
		Role: invitation.Role, Maker: makerOf(actor), ExpiresAt: &invitation.ExpiresAt})
	if err != nil {
		return Invitation{}, err
	}
	return invitation, changes.Record(ctx, tx, caller.Account, actor, KindInvitation, invitation.ID, nil, &invitation)
}

// invitation validates the draft and returns the invitation.
func (d InvitationDraft) invitation(tx Tx, caller Caller) (Invitation, error) {
	problems, email := d.Problems, d.Email.Or("")
	checkEmail(&problems, email)
	role := parseRole(&problems, d.Role, Member)
	if err := problems.Err(); err != nil {
		return Invitation{}, err
	}
	now := tx.Now()
	return Invitation{ID: newID(), Account: caller.Account, Email: email, Address: AddressOf(email), Role: role,
		CreatedBy: caller.UserID, CreatedAt: now, ExpiresAt: now.Add(invitationAge)}, caller.mayGive(role)
}

// requireNew refuses to invite an address that has a user or an open invitation already.
// It deletes an expired invitation.
func requireNew(ctx context.Context, tx Tx, invitation Invitation) error {
	switch _, err := tx.UserByAddress(ctx, invitation.Address); {
	case err == nil:
		return errTaken(invitation.Email)
	case !fault.Is(err, fault.NotFound):
		return err
	}
	invited, err := tx.Invitations(ctx, invitation.Account, InvitationFilter{Address: invitation.Address}, page.First())
	if err != nil {
		return err
	}
	for _, earlier := range invited.Items {
		if tx.Now().Before(earlier.ExpiresAt) {
			return fault.New(fault.AlreadyExists, "There is an invitation for %q already. Delete it to make another.", earlier.Email).
				At(fault.Attribute("email"))
		}
		if err := removeInvitation(ctx, tx, earlier); err != nil {
			return err
		}
	}
	return requireCapacity(ctx, tx.CountInvitations, invitation.Account, "platform.invitation_rows", "invitations", maxInvitations)
}

// requireCapacity refuses one more user or invitation if the account has the maximum.
func requireCapacity(ctx context.Context, count func(context.Context, string) (int, error), account, limit, noun string, maximum int) error {
	rows, err := count(ctx, account)
	if err == nil && rows >= maximum {
		return fault.RowLimit(limit, maximum, "An account may have %d %s. Delete some first.", maximum, noun)
	}
	return err
}

// DeleteInvitation deletes an invitation, so that its link stops working. It requires ADMIN
// or OWNER; only an OWNER deletes an invitation with the role OWNER.
func (s *Service) DeleteInvitation(ctx context.Context, caller Caller, id string, match changes.Match[Invitation]) error {
	return Do(ctx, s.Store, caller, func(ctx context.Context, tx Tx, caller Caller) error {
		target := Target(ctx, caller, KindInvitation, id, match, tx.Invitation)
		return changes.Delete(ctx, tx, target, func(invitation Invitation) error {
			if !caller.Role.Covers(invitation.Role) {
				return fault.New(fault.Forbidden, "Deleting an invitation with the role %s needs that role; %s.", invitation.Role, caller.has())
			}
			return removeInvitation(ctx, tx, invitation)
		})
	})
}

func removeInvitation(ctx context.Context, tx Tx, invitation Invitation) error {
	if err := tx.DeleteLinks(ctx, invitation.Account, invitation.ID); err != nil {
		return err
	}
	return tx.DeleteInvitation(ctx, invitation.Account, invitation.ID)
}
