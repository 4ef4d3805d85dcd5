package signalbox_test

import (
	"net/url"
	"slices"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/internal/servertest"
)

func tokenOf(t *testing.T, link string) string {
	t.Helper()
	parsed, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Query().Get("token")
}

func TestPeople_Server(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	owner, ctx := server.Client(), t.Context()
	invited, err := owner.Invitations.Create(ctx, signalbox.InvitationDraft{Email: "ada@example.com", Role: signalbox.RoleOwner})
	if err != nil || invited.Link == "" || invited.Role != signalbox.RoleOwner {
		t.Fatalf("invited %+v, %v", invited, err)
	}
	if page, err := owner.Invitations.List(ctx, signalbox.InvitationParams{}); err != nil || len(page.Items) != 1 || page.Items[0].Link != "" {
		t.Errorf("got %+v, %v", page, err)
	}
	if methods, err := signalbox.SignInMethods(ctx, server.URL); err != nil || !slices.Equal(methods, []string{signalbox.MethodPassword, signalbox.MethodKey}) {
		t.Errorf("got %v, %v", methods, err)
	}
	redemption := signalbox.Redemption{Token: tokenOf(t, invited.Link), Name: "Ada", Password: "correct horse battery"}
	ada, session, err := signalbox.Redeem(ctx, server.URL, redemption)
	if err != nil || session.Role != signalbox.RoleOwner || session.Key != nil {
		t.Fatalf("got %+v, %v", session, err)
	}
	if _, _, err := signalbox.Redeem(ctx, server.URL, redemption); !signalbox.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	if user, err := ada.User.Get(ctx); err != nil || user.ID != session.User || user.Name != "Ada" || !user.CanSignIn {
		t.Errorf("got %+v, %v", user, err)
	}
	if _, err := ada.Services.Create(ctx, "billing", signalbox.ServiceDraft{Name: "Billing"}); err != nil { // a write with a cookie
		t.Error(err)
	}
	if err := ada.Users.Delete(ctx, session.User); !signalbox.IsLastOwner(err) {
		t.Errorf("got %v", err)
	}
	if _, err := owner.User.ChangePassword(ctx, "x", "long enough"); !signalbox.IsForbidden(err) {
		t.Errorf("got %v", err)
	}
	if _, err := ada.User.ChangePassword(ctx, "correct horse battery", "another good one"); err != nil {
		t.Error(err)
	}
	if _, _, err := signalbox.SignIn(ctx, server.URL, "ADA@example.com", "wrong"); !signalbox.IsUnauthorized(err) {
		t.Errorf("got %v", err)
	}
	again, second, err := signalbox.SignIn(ctx, server.URL, "ADA@example.com", "another good one")
	if err != nil {
		t.Fatal(err)
	}
	if current, err := again.Sessions.Current(ctx); err != nil || current.ID != second.ID {
		t.Errorf("got %+v, %v", current, err)
	}
	if all := collect(t, owner.Sessions.All(ctx, signalbox.SessionParams{User: session.User})); len(all) != 2 {
		t.Errorf("got %+v", all)
	}
	if err := again.Sessions.SignOut(ctx); err != nil {
		t.Error(err)
	}
	if _, err := again.Account.Get(ctx); !signalbox.IsUnauthorized(err) {
		t.Errorf("got %v", err)
	}
	if err := owner.Sessions.Delete(ctx, session.ID); err != nil {
		t.Error(err)
	}
}

func TestUsersAPI_Server(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	owner, ctx := server.Client(), t.Context()
	invited, err := owner.Invitations.Create(ctx, signalbox.InvitationDraft{Email: "bob@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	_, session, err := signalbox.Redeem(ctx, server.URL, signalbox.Redemption{Token: tokenOf(t, invited.Link), Password: "correct horse battery"})
	if err != nil {
		t.Fatal(err)
	}
	bob, err := owner.Users.Get(ctx, session.User)
	if err != nil || bob.Role != signalbox.RoleMember {
		t.Fatalf("got %+v, %v", bob, err)
	}
	draft := bob.Draft()
	draft.Name, draft.Role = "Bob", signalbox.RoleViewer
	if changed, err := owner.Users.Replace(ctx, bob.ID, draft, signalbox.IfMatch(bob.ETag)); err != nil || changed.Role != signalbox.RoleViewer {
		t.Errorf("got %+v, %v", changed, err)
	}
	if page, err := owner.Users.List(ctx, signalbox.UserParams{Role: signalbox.RoleViewer}); err != nil || len(page.Items) != 1 {
		t.Errorf("got %+v, %v", page, err)
	}
	if reset, err := owner.Users.ResetPassword(ctx, bob.ID); err != nil || reset.Link == "" || reset.LinkExpiresAt == nil {
		t.Errorf("got %+v, %v", reset, err)
	}
	links, err := owner.Links.List(ctx, signalbox.LinkParams{User: bob.ID})
	if err != nil || len(links.Items) != 1 || links.Items[0].User != bob.ID || links.Items[0].CreatedBy.Type != "api_key" {
		t.Fatalf("got %+v, %v", links, err)
	}
	if err := owner.Links.Delete(ctx, links.Items[0].ID); err != nil {
		t.Error(err)
	}
	if err := owner.Users.Delete(ctx, bob.ID); err != nil {
		t.Error(err)
	}
	other, err := owner.Invitations.Create(ctx, signalbox.InvitationDraft{Email: "carol@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Invitations.Delete(ctx, other.ID); err != nil {
		t.Error(err)
	}
	if _, err := owner.Invitations.Get(ctx, other.ID); !signalbox.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	if _, viaKey, err := signalbox.SignInWithKey(ctx, server.URL, ownerKey); err != nil || viaKey.Key == nil {
		t.Errorf("got %+v, %v", viaKey, err)
	}
}
