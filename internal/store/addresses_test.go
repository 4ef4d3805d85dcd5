package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// TestMigrate_FoldsAddresses: addresses that earlier versions folded with all of Unicode are folded
// again; other users' addresses stay as they are.
func TestMigrate_FoldsAddresses(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := database.Open(t)
		account := storetest.NewTenant(t, db, "pro").Account.ID
		now := time.Now().UTC().Truncate(time.Microsecond)
		rows := []struct{ email, stored, want string }{
			{"Ada@Example.com", "ada@example.com", "ada@example.com"},
			{"nİk@example.com", "nik@example.com", "nİk@example.com"},
			{"ÄDA@example.com", "äda@example.com", "Äda@example.com"},
			{"ada@bücher.example", "ada@bücher.example", "ada@xn--bcher-kva.example"},
			{"bob@xn--bcher-kva.example", "bob@xn--bcher-kva.example", "bob@xn--bcher-kva.example"},
			{"bob@bücher.example", "bob@bücher.example", "bob@bücher.example"}, // somebody has it
		}
		err := db.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error {
			for _, row := range rows {
				user := accounts.User{ID: uuid.NewString(), Account: account, Email: row.email, Address: row.stored, Role: accounts.Viewer, CreatedAt: now, UpdatedAt: now}
				if err := tx.InsertUser(ctx, user); err != nil {
					return err
				}
				invitation := accounts.Invitation{ID: uuid.NewString(), Account: account, Email: row.email, Address: row.stored, Role: accounts.Viewer, CreatedAt: now, ExpiresAt: now}
				if err := tx.InsertInvitation(ctx, invitation); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // every start does it
			if err := db.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		found, invited := map[string]string{}, map[string]string{}
		err = db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) error {
			users, err := tx.Users(ctx, account, accounts.UserFilter{}, page.First())
			for _, each := range users.Items {
				found[each.Email] = each.Address
			}
			if err != nil {
				return err
			}
			invitations, err := tx.Invitations(ctx, account, accounts.InvitationFilter{}, page.First())
			for _, each := range invitations.Items {
				invited[each.Email] = each.Address
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			t.Run(row.email, func(t *testing.T) {
				if found[row.email] != row.want || invited[row.email] != row.want {
					t.Errorf("the user has %q, the invitation %q, want %q", found[row.email], invited[row.email], row.want)
				}
			})
		}
	})
}
