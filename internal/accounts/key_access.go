package accounts

import (
	"net/url"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/fault"
)

// Access says whether a key may be used for everything or only for one purpose.
type Access string

// The kinds of access. Only evaluate keys belong in a browser: they reveal the values
// of flags in one environment and nothing else. Only levels keys belong in a URL: they
// reveal the log levels of one environment and nothing else.
const (
	FullAccess     Access = "full"
	EvaluateAccess Access = "evaluate"
	LevelsAccess   Access = "levels"
)

const (
	maxOrigins = 100
	maxOrigin  = 255
)

// isFull reports whether the access has no purpose of its own. Keys from before there were
// kinds of access have none.
func (a Access) isFull() bool { return a != EvaluateAccess && a != LevelsAccess }

// RequireFullAccess refuses a caller whose key has one purpose.
func (c Caller) RequireFullAccess() error {
	if c.Access.isFull() {
		return nil
	}
	refusal := "This key may only evaluate flags, in the environment %q. Use a key whose access is full for everything else."
	if c.Access == LevelsAccess {
		refusal = "This key may only read log levels under /levels/, in the environment %q. Use a key whose access is full for everything else."
	}
	return fault.New(fault.Forbidden, refusal, strings.Join(c.Environments, ", "))
}

// requireLevelsAccess refuses every caller except a key that may only read levels. Paths
// end up in the logs of proxies, so a key with more rights must not work there.
func (c Caller) requireLevelsAccess() error {
	if c.Access == LevelsAccess {
		return nil
	}
	return fault.New(fault.Forbidden,
		"The key in this path must have the access levels. This key may do more, and paths are often logged. Revoke it if this path may have been logged.")
}

// RequireLevels refuses a caller whose key may not read the levels of an environment.
func (c Caller) RequireLevels(environment string) error {
	if slices.Contains(c.Environments, environment) {
		return nil
	}
	return fault.New(fault.Forbidden, "This key may read log levels in the environment %q only, not in %q.",
		strings.Join(c.Environments, ", "), environment)
}

// RequireEvaluation refuses a caller whose key may not evaluate in an environment.
// Keys with full access may evaluate in every environment.
func (c Caller) RequireEvaluation(environment string) error {
	switch {
	case c.Access == EvaluateAccess && slices.Contains(c.Environments, environment):
		return nil
	case c.Access != EvaluateAccess:
		return c.RequireFullAccess()
	}
	return fault.New(fault.Forbidden, "This key may evaluate flags in the environment %q only, not in %q.",
		strings.Join(c.Environments, ", "), environment)
}

// RequireRules refuses a caller whose key may not load the rules of an environment. Keys with origins are in web pages, where
// everybody can read them.
func (c Caller) RequireRules(environment string) error {
	if c.Origins != nil {
		return fault.New(fault.Forbidden, "This key is for web pages, because its scopes have origins. It may evaluate flags, but not load their rules.")
	}
	return c.RequireEvaluation(environment)
}

// access returns the access of the draft, or the stored access if the draft has none.
func (d KeyDraft) access(problems *fault.Problems, stored Access) Access {
	text, sent := d.Access.Get()
	if !sent {
		return stored
	}
	access := Access(strings.ToLower(text))
	if access != FullAccess && access != EvaluateAccess && access != LevelsAccess {
		problems.Attribute("access", "must be full, evaluate or levels")
	}
	return access
}

// checkAccess notes a problem if the scopes of a key are not allowed with its access.
func checkAccess(problems *fault.Problems, access Access, scopes Scopes) {
	if !access.isFull() && len(scopes.Environments) != 1 {
		problems.Attribute("scopes/environments", "must name exactly one environment, because access is %s", access)
	}
	if access != EvaluateAccess && scopes.Origins != nil {
		problems.Attribute("scopes/origins", "must be left out unless access is evaluate: web pages should hold no other key")
	}
}

// canonicalOrigins returns origins as browsers spell them. It notes a problem for
// origins that no browser would send.
func canonicalOrigins(problems *fault.Problems, sent []string) []string {
	if sent == nil {
		return nil
	}
	if len(sent) == 0 || len(sent) > maxOrigins {
		problems.Attribute("scopes/origins", "must name 1 to %d origins; leave it out to let pages of any origin evaluate", maxOrigins)
		return nil
	}
	var origins []string
	for _, text := range sent {
		origin, valid := canonicalOrigin(text)
		if !valid {
			problems.Attribute("scopes/origins", "must have origins such as https://shop.example:8443, without a path and without wildcards; %q is none", text)
			break
		}
		origins = append(origins, origin)
	}
	return distinct(origins)
}

func canonicalOrigin(text string) (string, bool) {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Scheme == "" || parsed.Hostname() == "" || len(text) > maxOrigin {
		return "", false
	}
	whole := strings.EqualFold(text, parsed.Scheme+"://"+parsed.Host) // no path, query or user
	plain := !strings.ContainsFunc(text, func(c rune) bool { return c == '*' || c <= ' ' || c > '~' })
	host := strings.ToLower(parsed.Host)
	switch parsed.Scheme { // browsers leave out the default port
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	return parsed.Scheme + "://" + host, whole && plain
}
