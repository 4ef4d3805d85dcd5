package hosts

import "strings"

// CutUser splits a URL into its user information, without the @, and the rest of the URL. It does not parse the URL, so
// that it also removes the password from an invalid one.
func CutUser(url string) (user, rest string, found bool) {
	start := strings.Index(url, "//") + len("//")
	if start < len("//") {
		return "", url, false
	}
	end := len(url)
	if path := strings.IndexAny(url[start:], "/?#"); path >= 0 {
		end = start + path
	}
	at := strings.LastIndexByte(url[start:end], '@')
	if at < 0 {
		return "", url, false
	}
	return url[start : start+at], url[:start] + url[start+at+1:], true
}

// Redacted is shown instead of credentials.
const Redacted = "<redacted>"

// RedactUser returns a URL with Redacted instead of its user information, if it has any.
func RedactUser(url string) string {
	_, rest, found := CutUser(url)
	if !found {
		return url
	}
	start := strings.Index(rest, "//") + len("//")
	return rest[:start] + Redacted + "@" + rest[start:]
}
