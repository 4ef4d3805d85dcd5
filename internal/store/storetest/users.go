package storetest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/store"
)

func newUser(t *testing.T, db *store.DB, account, email string, change func(*accounts.User)) accounts.User {
	t.Helper()
	user := changed(accounts.User{ID: newID(), Account: account, Email: email, Name: oddText, Role: accounts.Owner, CreatedAt: at(3), UpdatedAt: at(4)}, change)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.InsertUser(ctx, user) })
	return user
}

// signingIn sets an address and a password for a user.
func signingIn(user *accounts.User) {
	user.Address, user.PasswordHash, user.CanSignIn = strings.ToLower(user.Email), oddText, true
}

func users(t *testing.T, db *store.DB) {
	ctx := t.Context()
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	user := newUser(t, db, account, "zoë@example.com", nil)
	byAddress := func(address string) func(context.Context, *store.ReadTx) (accounts.User, error) {
		return func(ctx context.Context, tx *store.ReadTx) (accounts.User, error) {
			return tx.UserByAddress(ctx, address)
		}
	}
	t.Run("find by id and address", func(t *testing.T) {
		same(t, find(t, db, (*store.ReadTx).User, account, user.ID), user)
		lacks(t, db, (*store.ReadTx).User, other, user.ID)
		missing(t, db, byAddress("zoë@example.com"))
		missing(t, db, byAddress(""))
		signs := newUser(t, db, account, "Ada-"+newID()+"@example.com", signingIn)
		same(t, get(t, db, byAddress(signs.Address)), signs)
		missing(t, db, byAddress(signs.Email))
	})
	t.Run("find by identity", func(t *testing.T) {
		byIdentity := func(identity string) func(context.Context, *store.ReadTx) (accounts.User, error) {
			return func(ctx context.Context, tx *store.ReadTx) (accounts.User, error) {
				return tx.UserByIdentity(ctx, identity)
			}
		}
		missing(t, db, byIdentity(""))
		identified := func(user *accounts.User) {
			user.Address, user.Identity, user.CanSignIn = strings.ToLower(user.Email), "https://issuer "+newID(), true
		}
		one, two := newUser(t, db, account, newID()+"@example.com", identified), newUser(t, db, other, newID()+"@example.com", identified)
		same(t, get(t, db, byIdentity(one.Identity)), one)
		missing(t, db, byIdentity(one.Identity+"x"))
		stolen := two
		stolen.Identity = one.Identity
		refused(t, db.Write(ctx, other, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateUser(ctx, stolen) }), fault.AlreadyExists)
		two.Identity = ""
		two.CanSignIn = false
		do(t, db, other, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateUser(ctx, two) })
		same(t, find(t, db, (*store.ReadTx).User, other, two.ID), two)
	})
	t.Run("duplicate id, e-mail or address", func(t *testing.T) {
		signs := newUser(t, db, other, newID()+"@example.com", signingIn)
		for name, duplicate := range map[string]accounts.User{"id": {ID: user.ID, Account: account, Email: "x"},
			"e-mail":  {ID: newID(), Account: account, Email: user.Email},
			"address": {ID: newID(), Account: account, Email: "y", Address: signs.Address}} {
			t.Run(name, func(t *testing.T) {
				err := db.Write(ctx, account, func(ctx context.Context, tx *store.Tx) error { return tx.InsertUser(ctx, duplicate) })
				refused(t, err, fault.AlreadyExists)
			})
		}
		taken := user
		taken.Address = signs.Address
		refused(t, db.Write(ctx, account, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateUser(ctx, taken) }), fault.AlreadyExists)
		newUser(t, db, other, user.Email, nil) // without addresses, users of two accounts may share an e-mail
	})
	t.Run("owners, oldest first", func(t *testing.T) {
		account := newAccount(t, db).ID
		newUser(t, db, account, "admin", func(u *accounts.User) { u.Role, u.CreatedAt = accounts.Admin, at(0) })
		young := newUser(t, db, account, "young", func(u *accounts.User) { u.CreatedAt = at(9) })
		oldest := newUser(t, db, account, "old", func(u *accounts.User) { u.CreatedAt = at(5) })
		asOld := newUser(t, db, account, "as old", func(u *accounts.User) { u.CreatedAt = at(5) })
		same(t, of(t, db, (*store.ReadTx).Owners, account), []accounts.User{oldest, asOld, young})
		same(t, of(t, db, (*store.ReadTx).CountUsers, account), 4)
	})
	t.Run("an update and a deletion reach a user of their own account only", func(t *testing.T) { userWrites(t, db, account, other) })
	t.Run("the list", func(t *testing.T) { userList(t, db) })
}

func userWrites(t *testing.T, db *store.DB, account, other string) {
	before := newUser(t, db, account, "before-"+newID(), signingIn)
	chosen := accounts.Settings{Order: []string{"b"}, Other: []byte(oddJSON)}
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error {
		return tx.SetUserSettings(ctx, account, before.ID, chosen)
	})
	after := before
	after.Email, after.Address, after.PasswordHash, after.CanSignIn = "after-"+newID(), "", "", false
	after.Name, after.Role, after.UpdatedAt = "renamed", accounts.Viewer, at(99)
	foreign := after
	foreign.Account = other
	do(t, db, other, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateUser(ctx, foreign) })
	same(t, find(t, db, (*store.ReadTx).User, account, before.ID), before)
	sent := after
	sent.CreatedAt = at(1000)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.UpdateUser(ctx, sent) })
	same(t, find(t, db, (*store.ReadTx).User, account, before.ID), after)
	same(t, find(t, db, (*store.ReadTx).UserSettings, account, before.ID), chosen)
	do(t, db, other, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteUser(ctx, other, before.ID) })
	same(t, find(t, db, (*store.ReadTx).User, account, before.ID), after)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteUser(ctx, account, before.ID) })
	lacks(t, db, (*store.ReadTx).User, account, before.ID)
}

func userList(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	newUser(t, db, newAccount(t, db).ID, "another", nil) // of another account: never listed
	roles := accounts.Roles()
	var written []accounts.User
	for i, name := range append(oddNames(), oddNames()...) {
		written = append(written, newUser(t, db, account, newID(), func(user *accounts.User) {
			user.Name, user.Role, user.CreatedAt, user.UpdatedAt = name, roles[i%len(roles)], at(i%4), at(i%5)
		}))
	}
	listing[accounts.User, accounts.UserFilter]{
		read: (*store.ReadTx).Users, id: func(user accounts.User) string { return user.ID },
		byDefault: "name", fields: []string{"name", "email", "role", "created_at", "updated_at"},
	}.check(t, db, account, written)
	for want, filter := range map[int]accounts.UserFilter{1: {Search: strings.ToUpper(written[0].Email)}, 10: {Role: accounts.Viewer}, 0: {Search: "nobody"}} {
		t.Run(fmt.Sprintf("%d users", want), func(t *testing.T) {
			same(t, len(matches(t, db, (*store.ReadTx).Users, account, filter)), want)
		})
	}
}
