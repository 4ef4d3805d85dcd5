package accounts_test

import (
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// TestConfirm_CallersOfTheAuthenticator revokes a key after its authentication and
// before its write, once for each way in which the Authenticator can find the key.
func TestConfirm_CallersOfTheAuthenticator(t *testing.T) {
	t.Parallel()
	ways := map[string]func(t *testing.T, h *fixture, auth *accounts.Authenticator, key accounts.Key){
		"looked up": func(*testing.T, *fixture, *accounts.Authenticator, accounts.Key) {},
		"remembered": func(t *testing.T, h *fixture, auth *accounts.Authenticator, key accounts.Key) {
			h.authenticate(t, auth, key.Plaintext)
		},
		"collected to be kept": func(t *testing.T, h *fixture, auth *accounts.Authenticator, key accounts.Key) {
			h.authenticate(t, auth, key.Plaintext)
			h.key(t, accounts.Viewer) // this changes the access version, so the key is read again
			if known, err := auth.Known(t.Context(), time.Time{}, 10); err != nil || len(known) != 1 {
				t.Fatalf("got %v, %v", known, err)
			}
		},
		"kept over a restart": func(t *testing.T, h *fixture, auth *accounts.Authenticator, key accounts.Key) {
			before := h.authenticator()
			h.authenticate(t, before, key.Plaintext)
			known, err := before.Known(t.Context(), time.Time{}, 10)
			if err != nil {
				t.Fatal(err)
			}
			auth.Remember(known)
		},
	}
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		for name, prepare := range ways {
			t.Run(name, func(t *testing.T) {
				h := newFixture(t, database)
				auth, key := h.authenticator(), h.key(t, accounts.Admin)
				prepare(t, h, auth, key)
				caller := h.authenticate(t, auth, key.Plaintext)
				if _, err := h.RevokeKey(t.Context(), h.owner, key.ID); err != nil {
					t.Fatal(err)
				}
				_, err := h.CreateKey(t.Context(), caller, accounts.KeyDraft{Name: optional.Of("Survivor")})
				if !fault.Is(err, fault.Unauthorized) {
					t.Errorf("got %v", err)
				}
			})
		}
	})
}
