package app

import (
	"slices"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/api"
	"github.com/signalbox/signalbox/internal/openid"
	"github.com/signalbox/signalbox/internal/settings"
)

// wireOpenID creates the provider of the settings, if there is one. The state that a
// browser keeps during sign-in is sealed with the key ring, which all nodes share.
func (a *App) wireOpenID() api.OpenID {
	if a.settings.OIDCIssuer == "" {
		return nil
	}
	a.openID = openid.New(openid.Options{Issuer: a.settings.OIDCIssuer, ClientID: a.settings.OIDCClientID,
		ClientSecret: a.settings.OIDCClientSecret, RoleClaim: a.settings.OIDCRoleClaim}, a.ring, a.options.Now)
	return a.openID
}

// identityRules returns the rules of the settings on who may sign in with the provider.
func identityRules(s settings.Settings) accounts.IdentityRules {
	rules := accounts.IdentityRules{Domains: s.OIDCDomains, Roles: map[string]accounts.Role{}}
	if slices.Contains(s.OIDCDomains, "*") {
		rules.Domains = nil
	}
	for value, name := range s.OIDCRoles {
		rules.Roles[value], _ = accounts.ParseRole(name) // the settings have checked it
	}
	return rules
}
