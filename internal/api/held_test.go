package api_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// heldRequest is a request whose headers have arrived, so that its caller is
// authenticated, and whose body has not.
type heldRequest struct {
	row  access
	conn net.Conn
	read *bufio.Reader
	body string
}

// hold sends the headers of a request and waits until the server asks for the body, which
// it does once it has authorized the user. What the request is about exists.
func hold(t testing.TB, user client, row access, path, body string) *heldRequest {
	t.Helper()
	method, _, _ := strings.Cut(row.route, " ")
	if body == "" {
		body = "{}"
	}
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(user.node.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	credential := "Authorization: Bearer " + user.key
	if user.session != "" {
		credential = "Cookie: signalbox_session=" + user.session
	}
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: held\r\n%s\r\nContent-Type: %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
		method, path, credential, jsonapi.MediaType, len(body))
	held := &heldRequest{row: row, conn: conn, read: bufio.NewReader(conn), body: body}
	status, err := held.read.ReadString('\n')
	if err != nil {
		t.Fatalf("%s: %v", row.route, err)
	}
	if !strings.Contains(status, " 100 ") {
		t.Fatalf("%s: the server answered %q before it had the body", row.route, strings.TrimSpace(status))
	}
	return held
}

// finish sends the body and returns the status of the answer.
func (h *heldRequest) finish(t testing.TB) int {
	t.Helper()
	if _, err := h.read.ReadString('\n'); err != nil { // the end of the 100
		t.Fatal(err)
	}
	if _, err := h.conn.Write([]byte(h.body)); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(h.read, nil)
	if err != nil {
		t.Fatalf("%s: %v", h.row.route, err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// loss is a way to lose rights between the headers and the last byte of a request.
type loss struct {
	name string
	// begin returns a client with full rights, and what takes them away.
	begin func(owner client) (user client, lose func())
	// after is the column of the access table for the caller's remaining rights.
	after string
}

func losses() []loss {
	ofKey := func(take func(owner client, key madeKey)) func(client) (client, func()) {
		return func(owner client) (client, func()) {
			key := owner.makeKey(attributes{"role": "ADMIN"})
			return owner.as(key.secret), func() { take(owner, key) }
		}
	}
	changed := func(more attributes) func(owner client, key madeKey) {
		return func(owner client, key madeKey) {
			more["name"] = "Changed"
			owner.put(key.path, envelope("", "", more)).want(200)
		}
	}
	ofPerson := func(take func(owner client, user person)) func(client) (client, func()) {
		return func(owner client) (client, func()) {
			user := owner.join("ADMIN", "Loser")
			return user.client, func() { take(owner, user) }
		}
	}
	return []loss{
		{"key revoked", ofKey(func(owner client, key madeKey) { owner.post(key.path+"/actions/revoke", "").want(200) }), "revoked"},
		{"key deleted", ofKey(func(owner client, key madeKey) { owner.delete(key.path).want(204) }), "revoked"},
		{"key expired", expiring, "expired"},
		{"key lowered", ofKey(changed(attributes{"role": "VIEWER"})), "VIEWER"},
		{"key scoped down", ofKey(changed(attributes{"scopes": attributes{"environments": []string{"staging"}}})), "scoped ADMIN"},
		{"person deleted", ofPerson(func(owner client, user person) { owner.delete(usersPath + "/" + user.id).want(204) }), "revoked"},
		{"person lowered", ofPerson(func(owner client, user person) {
			owner.put(usersPath+"/"+user.id, bareBody(attributes{"name": "Lowered", "role": "VIEWER"})).want(200)
		}), "VIEWER"},
		{"password changed", ofPerson(func(_ client, user person) {
			user.again().put(passwordPath, bareBody(attributes{"current_password": goodPassword, "password": "another good one"})).want(200)
		}), "revoked"},
		{"session ended", ofPerson(func(_ client, user person) { user.delete(sessionsPath + "/current").want(204) }), "revoked"},
	}
}

// expiring returns a key that ends by itself, soon after the requests were held.
func expiring(owner client) (user client, lose func()) {
	key := owner.makeKey(attributes{"role": "ADMIN", "expires_at": time.Now().Add(5 * time.Second)})
	user = owner.as(key.secret)
	return user, func() {
		storetest.Wait(owner.t, time.Minute, "the key has expired", func() bool { return user.get(accountPath).status == 401 })
	}
}

// heldRows returns the routes that write and read a body, without the routes of sessions,
// which keys cannot use.
func heldRows() []access {
	return slices.DeleteFunc(accessTable(), func(row access) bool {
		open := strings.Fields(row.want)[0] != "401"
		return open || !strings.HasPrefix(row.route, "POST /api/v1") && !strings.HasPrefix(row.route, "PUT /api/v1") ||
			strings.HasSuffix(row.route, "/sessions/current/codes") || strings.HasSuffix(row.route, "/password") ||
			strings.HasSuffix(row.route, "/evaluate") // which is a question
	})
}

// TestHeldRequest_LosesRights takes rights away between the headers and the body of a
// request, for every route that writes.
func TestHeldRequest_LosesRights(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		for _, loss := range losses() {
			t.Run(loss.name, func(t *testing.T) {
				t.Parallel()
				owner := owner.in(t)
				rows := heldRows()
				paths, bodies := make([]string, len(rows)), make([]string, len(rows))
				for i, row := range rows {
					paths[i], bodies[i] = row.target(owner)
				}
				user, lose := loss.begin(owner)
				var held []*heldRequest
				for i, row := range rows {
					held = append(held, hold(t, user, row, paths[i], bodies[i]))
				}
				lose()
				column := slices.Index(credentials, loss.after)
				for _, request := range held {
					want := strings.Fields(request.row.want)[column]
					if got := request.finish(t); strconv.Itoa(got) != want {
						t.Errorf("%s: got %d, want %s", request.row.route, got, want)
					}
				}
			})
		}
	})
}

// TestHeldRequest_RevokedKeyMakesNoKey: an attacker with a revoked key cannot make another
// key with a request that was sent before.
func TestHeldRequest_RevokedKeyMakesNoKey(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		key := owner.makeKey(attributes{"role": "OWNER"})
		making := envelope("api_key", "", attributes{"name": "Survivor", "role": "OWNER"})
		held := hold(t, owner.as(key.secret), access{route: "POST /api/v1/api_keys"}, keysPath, making)
		owner.post(key.path+"/actions/revoke", "").want(200)
		if got := held.finish(t); got != 401 {
			t.Errorf("got %d", got)
		}
		if found := owner.get(keysPath + "?filter[search]=Survivor").want(200).ids(); len(found) != 0 {
			t.Errorf("the key was made: %v", found)
		}
	})
}

// TestHeldRequest_EndedSessionTestsNoPassword: a request of an ended session does not learn
// whether a password is right.
func TestHeldRequest_EndedSessionTestsNoPassword(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for name, password := range map[string]string{"right": goodPassword, "wrong": "not the password"} {
		t.Run(name, func(t *testing.T) {
			user := owner.in(t).join("MEMBER", "Somebody")
			body := bareBody(attributes{"current_password": password, "password": "another good one"})
			held := hold(t, user.client, access{route: "PUT " + passwordPath}, passwordPath, body)
			user.delete(sessionsPath + "/current").want(204)
			if got := held.finish(t); got != 401 {
				t.Errorf("got %d", got)
			}
		})
	}
}

// TestHeldRequest_Deletes holds requests that have no body by the account's lock: the
// key is revoked in the transaction that the deletion waits for.
func TestHeldRequest_Deletes(t *testing.T) {
	t.Parallel()
	storetest.Need(t, "postgres")
	node := start(t, storetest.New(t, "postgres"))
	raw, db := node.node.Database.Raw(t), node.node.Database.Open(t)
	waiting := func() bool {
		var count int
		err := raw.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&count)
		if err != nil {
			t.Fatal(err)
		}
		return count > 0
	}
	for _, row := range accessTable() {
		if !strings.HasPrefix(row.route, "DELETE ") || strings.HasSuffix(row.route, "/current") {
			continue
		}
		t.Run(row.route, func(t *testing.T) {
			owner := node.in(t)
			path, _ := row.target(owner)
			key := owner.makeKey(attributes{"role": "OWNER"})
			locked, release := make(chan struct{}), make(chan struct{})
			revoked := make(chan error, 1)
			account := owner.get(accountPath).want(200).data().ID
			go func() {
				revoked <- db.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error {
					close(locked)
					<-release
					return revokeIn(ctx, tx, account, key.id)
				})
			}()
			<-locked
			answered := make(chan int, 1)
			go func() { answered <- owner.as(key.secret).delete(path).status }()
			storetest.Wait(t, time.Minute, "the deletion waits for the account", waiting)
			close(release)
			if err := <-revoked; err != nil {
				t.Fatal(err)
			}
			if got := <-answered; got != 401 {
				t.Errorf("got %d", got)
			}
		})
	}
}

func revokeIn(ctx context.Context, tx *store.Tx, account, id string) error {
	key, err := tx.Key(ctx, account, id)
	if err == nil {
		_, err = accounts.Revoke(ctx, tx, changes.Operator(), key)
	}
	return err
}
