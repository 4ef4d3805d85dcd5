package signalbox_test

import (
	"fmt"
	"strings"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/internal/servertest"
)

func TestSignInWithCode_Server(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	owner, ctx := server.Client(), t.Context()
	invited, err := owner.Invitations.Create(ctx, signalbox.InvitationDraft{Email: "ada@example.com", Role: signalbox.RoleMember})
	if err != nil {
		t.Fatal(err)
	}
	ada, browser, err := signalbox.Redeem(ctx, server.URL, signalbox.Redemption{Token: tokenOf(t, invited.Link), Password: "correct horse battery"})
	if err != nil {
		t.Fatal(err)
	}
	code, err := ada.Sessions.CreateCode(ctx)
	if err != nil || len(code.Code) != len("XXXX-XXXX-XXXX") || code.ID != browser.ID || code.ExpiresAt.IsZero() {
		t.Fatalf("got %+v, %v", code, err)
	}
	_, session, err := signalbox.SignInWithCode(ctx, server.URL, code.Code)
	if err != nil || session.User != browser.User || session.ID == browser.ID || session.Token == "" {
		t.Fatalf("got %+v, %v", session, err)
	}
	if _, _, err := signalbox.SignInWithCode(ctx, server.URL, code.Code); !signalbox.IsUnauthorized(err) {
		t.Errorf("got %v", err)
	}
	resumed, err := signalbox.Resume(server.URL, session.Token)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := resumed.Services.Create(ctx, "billing", signalbox.ServiceDraft{Name: "Billing"}); err != nil {
		t.Error(err)
	}
	if current, err := resumed.Sessions.Current(ctx); err != nil || current.ID != session.ID || current.Token != "" {
		t.Errorf("got %+v, %v", current, err)
	}
	if _, err := owner.Sessions.CreateCode(ctx); !signalbox.IsNotFound(err) { // a key is no session
		t.Errorf("got %v", err)
	}
}

func TestResume_InvalidToken(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"", "a b", "a\nb", "ü"} {
		t.Run(fmt.Sprintf("%q", token), func(t *testing.T) {
			if _, err := signalbox.Resume("http://127.0.0.1:1", token); err == nil || strings.Contains(err.Error(), "a b") {
				t.Errorf("%q: got %v", token, err)
			}
		})
	}
	if _, err := signalbox.Resume("nowhere", "token"); err == nil {
		t.Error("the base URL is not checked")
	}
}
