package settings_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/settings"
)

// TestLoad_OpenID loads OpenID Connect settings in the forms that people write.
func TestLoad_OpenID(t *testing.T) {
	t.Parallel()
	base := []string{"SIGNALBOX_OIDC_ISSUER=http://localhost:8081/realms/x/", "SIGNALBOX_OIDC_CLIENT_ID=signalbox", "SIGNALBOX_OIDC_ROLE_CLAIM=groups"}
	for roles, want := range map[string]map[string]string{
		" admins = admin , a=b=OWNER,,*=Viewer": {"admins": "ADMIN", "a=b": "OWNER", "*": "VIEWER"},
		`{"CN=Admins,DC=x": "ADMIN"}`:           {"CN=Admins,DC=x": "ADMIN"},
	} {
		t.Run(fmt.Sprintf("%q", roles), func(t *testing.T) {
			loaded, _, err := settings.Load(append(base, "SIGNALBOX_OIDC_ROLES="+roles, "SIGNALBOX_OIDC_DOMAINS=Example.com, bücher.example"), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, loaded.OIDCRoles); diff != "" || !slices.Equal(loaded.OIDCDomains, []string{"example.com", "xn--bcher-kva.example"}) {
				t.Errorf("domains %v, roles want (-), got (+):\n%s", loaded.OIDCDomains, diff)
			}
			if loaded.OIDCIssuer != "http://localhost:8081/realms/x/" {
				t.Errorf("the issuer became %s", loaded.OIDCIssuer)
			}
		})
	}
	if _, _, err := settings.Load(append(base, "SIGNALBOX_OIDC_ROLES=*=VIEWER", "SIGNALBOX_OIDC_DOMAINS=*"), nil); err != nil {
		t.Error(err)
	}
}

func TestLoad_OpenIDIncomplete(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]string{
		"OIDC_ISSUER=https://login.example.com": "SIGNALBOX_OIDC_CLIENT_ID: it is not set; register Signalbox at the provider",
		"OIDC_CLIENT_ID=signalbox":              "SIGNALBOX_OIDC_ISSUER: it is not set, and other SIGNALBOX_OIDC settings are",
		"OIDC_CLIENT_SECRET=hunter2":            "SIGNALBOX_OIDC_ISSUER: it is not set, and other SIGNALBOX_OIDC settings are",
		"OIDC_DOMAINS=example.com":              "SIGNALBOX_OIDC_ISSUER: it is not set, and other SIGNALBOX_OIDC settings are",
	} {
		t.Run(entry, func(t *testing.T) {
			if _, _, err := settings.Load([]string{"SIGNALBOX_" + entry}, nil); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v", err)
			}
		})
	}
}
