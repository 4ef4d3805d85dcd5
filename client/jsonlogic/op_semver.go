package jsonlogic

import (
	"cmp"
	"strings"
)

// version is a parsed semantic version. Its numbers stay text because they have no size limit.
type version struct {
	major, minor, patch string
	prerelease          string // without the dash; "" is a release
}

// compileSemVer compiles `sem_ver` of a version, an operator and a version; other arguments give null. As in flagd a leading
// v is allowed, 1 and 1.2 mean 1.0.0 and 1.2.0, ^ compares the major version, and ~ the major and the minor version.
func compileSemVer(c *compiler, n *node) evalFunc {
	if len(n.args) != 3 {
		return c.discard(n)
	}
	actual, operator, target := c.version(n, 0), c.source(n, 1), c.version(n, 2)
	return func(st *state, data Value) Value {
		a, b := actual(st, data), target(st, data)
		op, isText := operator.get(st, data).Text()
		if a.major == "" || b.major == "" || !isText {
			return Null()
		}
		return compareVersions(a, b, op)
	}
}

// version compiles an argument that is a version; a literal is parsed once.
func (c *compiler) version(n *node, i int) func(*state, Value) version {
	if v, ok := c.known(n, i); ok {
		known := parseVersion(v)
		return func(*state, Value) version { return known }
	}
	arg := c.source(n, i)
	return func(st *state, data Value) version { return parseVersion(arg.coerced(st, data)) }
}

func compareVersions(a, b version, operator string) Value {
	order := a.compare(b)
	switch operator {
	case "=":
		return Bool(order == 0)
	case "!=":
		return Bool(order != 0)
	case "<":
		return Bool(order < 0)
	case "<=":
		return Bool(order <= 0)
	case ">":
		return Bool(order > 0)
	case ">=":
		return Bool(order >= 0)
	case "^":
		return Bool(a.major == b.major)
	case "~":
		return Bool(a.major == b.major && a.minor == b.minor)
	}
	return Null()
}

// parseVersion parses a string, or a number such as 1.2, as Semantic Versioning 2.0. An invalid version has no major.
func parseVersion(v Value) version {
	if v.kind != KindString && v.kind != KindNumber {
		return version{}
	}
	text := toText(v)
	if strings.HasPrefix(text, "v") || strings.HasPrefix(text, "V") {
		text = text[1:]
	}
	core, build, hasBuild := strings.Cut(text, "+")
	core, prerelease, hasPrerelease := strings.Cut(core, "-")
	if hasBuild && !identifiers(build, false) || hasPrerelease && !identifiers(prerelease, true) {
		return version{}
	}
	return parseCore(core, prerelease, hasBuild || hasPrerelease)
}

// parseCore parses the three numbers; some may be left out unless complete is set.
func parseCore(core, prerelease string, complete bool) version {
	out := version{minor: "0", patch: "0", prerelease: prerelease}
	var more, most bool
	if out.major, core, more = strings.Cut(core, "."); more {
		if out.minor, core, most = strings.Cut(core, "."); most {
			out.patch = core
		}
	}
	ok := isVersionNumber(out.major) && isVersionNumber(out.minor) && isVersionNumber(out.patch)
	if !ok || complete && !most {
		return version{}
	}
	return out
}

func isVersionNumber(s string) bool {
	return s != "" && leadingDigits(s) == len(s) && (s[0] != '0' || len(s) == 1)
}

// identifiers reports whether a dotted list is valid. In a prerelease, numbers must not start with a zero.
func identifiers(list string, numbersStrict bool) bool {
	for part := range strings.SplitSeq(list, ".") {
		if !isIdentifier(part) {
			return false
		}
		if numbersStrict && leadingDigits(part) == len(part) && !isVersionNumber(part) {
			return false
		}
	}
	return true
}

func isIdentifier(s string) bool {
	const allowed = "-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return s != "" && strings.Trim(s, allowed) == ""
}

func (v version) compare(w version) int {
	return cmp.Or(
		compareDigits(v.major, w.major),
		compareDigits(v.minor, w.minor),
		compareDigits(v.patch, w.patch),
		comparePrerelease(v.prerelease, w.prerelease),
	)
}

// compareDigits orders numbers without leading zeros: the longer number is larger.
func compareDigits(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// comparePrerelease orders prereleases part by part; a release comes after its prereleases.
func comparePrerelease(a, b string) int {
	if a == "" || b == "" {
		return cmp.Compare(len(b), len(a))
	}
	for a != "" && b != "" {
		var x, y string
		x, a, _ = strings.Cut(a, ".")
		y, b, _ = strings.Cut(b, ".")
		if order := compareIdentifier(x, y); order != 0 {
			return order
		}
	}
	return cmp.Compare(len(a), len(b))
}

// compareIdentifier orders numbers before words.
func compareIdentifier(a, b string) int {
	aNumber, bNumber := leadingDigits(a) == len(a), leadingDigits(b) == len(b)
	switch {
	case aNumber && bNumber:
		return compareDigits(a, b)
	case aNumber:
		return -1
	case bNumber:
		return 1
	}
	return cmp.Compare(a, b)
}
