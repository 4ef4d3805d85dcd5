package app

import (
	"slices"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/api"
	"github.com/signalbox/signalbox/internal/openid"
	"github.com/signalbox/signalbox/internal/settings"
)

// wireOpenID creates the OpenID provider, if the settings name one. The sign-in state
// that the browser holds is sealed with the key ring, which all nodes share.
func (a *App) wireOpenID() api.OpenID {
	if a.settings.OIDCIssuer == "" {
		return nil
	}
	a.openID = openid.New(openid.Options{Issuer: a.settings.OIDCIssuer, ClientID: a.settings.OIDCClientID,
		ClientSecret: a.settings.OIDCClientSecret, RoleClaim: a.settings.OIDCRoleClaim}, a.ring, a.options.Now)
	return a.openID
}

// identityRules returns the settings' rules about who may sign in with the provider.
func identityRules(s settings.Settings) accounts.IdentityRules {
	rules := accounts.IdentityRules{Domains: s.OIDCDomains, Roles: map[string]accounts.Role{}}
	if slices.Contains(s.OIDCDomains, "*") {
		rules.Domains = nil
	}
	for value, name := range s.OIDCRoles {
		rules.Roles[value], _ = accounts.ParseRole(name) // the settings were checked already
	}
	return rules
}
