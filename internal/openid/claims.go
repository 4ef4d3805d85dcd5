package openid

import (
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/internal/accounts"
)

// claims are what a provider says of somebody.
type claims map[string]any

// The claims that say that an e-mail address is verified. Entra ID has its own.
const (
	verified      = "email_verified"
	verifiedEntra = "xms_edov"
)

// complete reports whether nothing is missing that a sign-in looks at.
func (c claims) complete(roleClaim string) bool {
	_, isVerified := c[verified]
	_, isEntra := c[verifiedEntra]
	return c.text("email") != "" && (isVerified || isEntra) && c.text("name") != "" && (roleClaim == "" || c.find(roleClaim) != nil)
}

// add takes over claims that are missing. That another e-mail address is verified says
// nothing of this one.
func (c claims) add(more claims) {
	if email := c.text("email"); email != "" && email != more.text("email") {
		delete(more, verified)
		delete(more, verifiedEntra)
	}
	for name, value := range more {
		if _, known := c[name]; !known {
			c[name] = value
		}
	}
}

func (c claims) text(name string) string {
	text, _ := c[name].(string)
	return text
}

// find returns the claim of a name, or the value at a dotted path. Names of claims may
// have dots too, in URLs for instance.
func (c claims) find(path string) any {
	if value, exact := c[path]; exact {
		return value
	}
	var value any = map[string]any(c)
	for step := range strings.SplitSeq(path, ".") {
		object, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = object[step]
	}
	return value
}

// identity returns what accounts decides by.
func (c claims) identity(issuer, subject, roleClaim string) accounts.Identity {
	identity := accounts.Identity{Issuer: issuer, Subject: subject, Email: c.text("email"), Name: c.text("name"),
		EmailVerified: c.isVerified()}
	if roleClaim != "" {
		identity.Values = values(c.find(roleClaim))
	}
	return identity
}

// isVerified reports whether the provider vouches for the e-mail address. What it says in
// the standard's claim counts, and Entra's only where there is none.
func (c claims) isVerified() bool {
	if standard, said := c[verified]; said {
		return isTrue(standard)
	}
	return isTrue(c[verifiedEntra])
}

// isTrue accepts the spellings of true that providers use.
func isTrue(value any) bool {
	switch fmt.Sprint(value) {
	case "true", "1":
		return true
	}
	return false
}

// values returns the texts in a claim, which is one or a list of them.
func values(claim any) []string {
	switch claim := claim.(type) {
	case []any:
		var found []string
		for _, each := range claim {
			found = append(found, values(each)...)
		}
		return found
	case string, bool, float64:
		return []string{fmt.Sprint(claim)}
	}
	return nil
}
