package openid

import (
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/internal/accounts"
)

// claims are a provider's statements about a person.
type claims map[string]any

// These claims say whether an e-mail address is verified. Entra ID uses its own claim.
const (
	verified      = "email_verified"
	verifiedEntra = "xms_edov"
)

// complete reports whether all claims that a sign-in needs are present.
func (c claims) complete(roleClaim string) bool {
	_, isVerified := c[verified]
	_, isEntra := c[verifiedEntra]
	return c.text("email") != "" && (isVerified || isEntra) && c.text("name") != "" && (roleClaim == "" || c.find(roleClaim) != nil)
}

// add adds missing claims from more. If more has a different e-mail address, its claims about
// verification are ignored.
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

// find returns the claim with a name, or the value at a dotted path. The name of a claim may
// contain dots too, for example in a URL.
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

// identity returns the identity from which package accounts decides about the sign-in.
func (c claims) identity(issuer, subject, roleClaim string) accounts.Identity {
	identity := accounts.Identity{Issuer: issuer, Subject: subject, Email: c.text("email"), Name: c.text("name"),
		EmailVerified: c.isVerified()}
	if roleClaim != "" {
		identity.Values = values(c.find(roleClaim))
	}
	return identity
}

// isVerified reports whether the provider has verified the e-mail address. Entra's claim counts
// only if the standard claim is missing.
func (c claims) isVerified() bool {
	if standard, said := c[verified]; said {
		return isTrue(standard)
	}
	return isTrue(c[verifiedEntra])
}

// isTrue reports whether a value is one of the spellings of true that providers use.
func isTrue(value any) bool {
	switch fmt.Sprint(value) {
	case "true", "1":
		return true
	}
	return false
}

// values returns the texts in a claim, which is a text or a list of texts.
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
