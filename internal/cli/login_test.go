package cli_test

import (
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/app/apptest"
)

// newPerson returns a client of somebody who signed in to a new account.
func newPerson(t *testing.T, node *apptest.Node, role signalbox.Role) *signalbox.Client {
	t.Helper()
	key := node.Account(t, "person", "pro")
	owner, err := signalbox.New(node.URL, key)
	if err != nil {
		t.Fatal(err)
	}
	account, err := owner.Account.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	invited, err := owner.Invitations.Create(t.Context(), signalbox.InvitationDraft{Email: "ada@" + account.Key + ".example", Role: role})
	if err != nil {
		t.Fatal(err)
	}
	link, err := url.Parse(invited.Link)
	if err != nil {
		t.Fatal(err)
	}
	redemption := signalbox.Redemption{Token: link.Query().Get("token"), Name: "Ada", Password: "correct horse battery"}
	person, _, err := signalbox.Redeem(t.Context(), node.URL, redemption)
	if err != nil {
		t.Fatal(err)
	}
	return person
}

// signIn signs a terminal in with a code of a person.
func (term *terminal) signIn(person *signalbox.Client, url string) string {
	term.t.Helper()
	code, err := person.Sessions.CreateCode(term.t.Context())
	if err != nil {
		term.t.Fatal(err)
	}
	term.input = code.Code + "\n"
	said := term.must("login", url)
	term.input = ""
	return said
}

func TestLogin_Code(t *testing.T) {
	t.Parallel()
	node := apptest.Shared(t, "sqlite")
	ada, term := newPerson(t, node, signalbox.RoleMember), newTerminal(t)
	matches(t, `^You use the account person-\d+ on `+node.URL+` now as Ada, until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC at the latest\. It is saved`, term.signIn(ada, node.URL))
	text, err := os.ReadFile(term.profileFile())
	if err != nil || strings.Contains(string(text), "api_key") || !strings.Contains(string(text), `"session"`) {
		t.Errorf("got %s, %v", text, err)
	}
	term.must("flags", "create", "by-ada", "--type", "BOOLEAN", "--default", "false")
	matches(t, `Ada`, term.must("changes", "list"))
	sessions, err := ada.Sessions.List(t.Context(), signalbox.SessionParams{})
	if err != nil || len(sessions.Items) != 2 || !strings.HasPrefix(sessions.Items[0].Client, "signalbox-cli/") {
		t.Fatalf("got %+v, %v", sessions, err)
	}
	if err := ada.Sessions.Delete(t.Context(), sessions.Items[0].ID); err != nil {
		t.Fatal(err)
	}
	if got := term.run("flags", "list"); got.code != 6 || got.stderr != "signalbox: your session on "+node.URL+" has ended; sign in again with signalbox login "+node.URL+"\n" {
		t.Errorf("got %+v", got)
	}
	if got := term.run("logout"); got.code != 0 || got.stderr != "" { // it has ended already
		t.Errorf("got %+v", got)
	}
}

// TestLogin_CodeIsForItsServerAlone: a session is no less a secret than a key.
func TestLogin_CodeIsForItsServerAlone(t *testing.T) {
	t.Parallel()
	node := apptest.Shared(t, "sqlite")
	term := newTerminal(t)
	term.signIn(newPerson(t, node, signalbox.RoleViewer), node.URL)
	if got := term.run("flags", "list", "--url", "http://127.0.0.1:1"); got.code != 2 || !strings.Contains(got.stderr, "there is no API key for http://127.0.0.1:1;") {
		t.Errorf("got %+v", got)
	}
	if got := term.run("flags", "list", "--api-key", "sk_api_wrong"); got.code != 6 || strings.Contains(got.stderr, "session") { // the key wins
		t.Errorf("got %+v", got)
	}
}

func TestLogin_WrongCode(t *testing.T) {
	t.Parallel()
	term := newTerminal(t)
	code := strings.ToLower(rand.Text()) // another one each time, because failures are counted
	term.input = code[:4] + "-" + code[4:8] + "-" + code[8:12] + "\n"
	if got := term.run("login", apptest.Shared(t, "sqlite").URL); got.code != 6 || !strings.Contains(got.stderr, "This code does not work") {
		t.Errorf("got %+v", got)
	}
	if _, err := os.Stat(term.profileFile()); !os.IsNotExist(err) {
		t.Errorf("a refused login left a file: %v", err)
	}
}

func TestLogout_EndsSession(t *testing.T) {
	t.Parallel()
	node := apptest.Shared(t, "sqlite")
	ada, term := newPerson(t, node, signalbox.RoleViewer), newTerminal(t)
	term.signIn(ada, node.URL)
	term.must("logout")
	if sessions, err := ada.Sessions.List(t.Context(), signalbox.SessionParams{}); err != nil || len(sessions.Items) != 1 {
		t.Errorf("got %+v, %v", sessions, err)
	}
}
