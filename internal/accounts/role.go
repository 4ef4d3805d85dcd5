package accounts

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
)

// Role decides what a key or a user may do.
type Role string

// The roles. A viewer reads; a member also configures; an admin also manages
// environments, keys, settings and users except owners; an owner does everything.
const (
	Viewer Role = "VIEWER"
	Member Role = "MEMBER"
	Admin  Role = "ADMIN"
	Owner  Role = "OWNER"
)

// Roles lists the roles from the weakest to the strongest.
func Roles() []Role { return []Role{Viewer, Member, Admin, Owner} }

// ParseRole parses a role in any case.
func ParseRole(text string) (Role, bool) {
	role := Role(strings.ToUpper(text))
	return role, slices.Contains(Roles(), role)
}

// Covers reports whether r has at least the rights of other.
func (r Role) Covers(other Role) bool {
	return slices.Index(Roles(), r) >= slices.Index(Roles(), other)
}

// parseRole returns the role of a draft, or fallback if the draft has none.
func parseRole(problems *fault.Problems, sent optional.Value[string], fallback Role) Role {
	text, named := sent.Get()
	if !named {
		return fallback
	}
	role, known := ParseRole(text)
	if !known {
		problems.Attribute("role", "must be OWNER, ADMIN, MEMBER or VIEWER")
	}
	return role
}
