package hosts

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of a request.
const (
	maxURL         = 2048
	maxHost        = 253 // DNS allows no more
	maxHeaderName  = 200
	maxHeaderValue = 8192
)

var tokenPattern = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// URLRule returns the rule that the URL of a request breaks, or "".
func URLRule(text string) string {
	if length := utf8.RuneCountInString(text); length < 1 || length > maxURL {
		return fmt.Sprintf("is required and must have 1 to %d characters", maxURL)
	}
	scheme, _, _ := strings.Cut(text, "://")
	target, err := url.Parse(text)
	switch {
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return "must be a URL without spaces and control characters"
	case !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https"):
		return "must be an absolute URL that starts with http:// or https://"
	case err != nil: // the error may quote a password
		return "must be a URL such as https://user:p%40ss@example.com:8443/path: percent-encode special characters, put IPv6 addresses in brackets, and use a port from 1 to 65535"
	case target.Hostname() == "":
		return "must name a host"
	case !utf8.ValidString(target.Hostname()) || utf8.RuneCountInString(target.Hostname()) > maxHost:
		return fmt.Sprintf("must name a host of at most %d characters in UTF-8", maxHost)
	case !IsName(target.Hostname()):
		return "must name a host that can be looked up"
	}
	if number, err := strconv.Atoi(cmp.Or(target.Port(), "80")); err != nil || number < 1 || number > 65535 {
		return "must have a port from 1 to 65535"
	}
	return ""
}

// Destination returns where a URL leads, as host:port. Equal destinations have equal texts, because the number of
// requests to a host is limited.
func Destination(text string) string {
	target, err := url.Parse(text)
	if err != nil {
		return ""
	}
	port := target.Port()
	if number, err := strconv.Atoi(port); err == nil {
		port = strconv.Itoa(number) // 080 is 80
	}
	standard := "80"
	if strings.EqualFold(target.Scheme, "https") {
		standard = "443"
	}
	return net.JoinHostPort(Canonical(target.Hostname()), cmp.Or(port, standard))
}

// HeaderNameRule returns the rule that the name of a request's header breaks, or "".
func HeaderNameRule(name string) string {
	switch length := utf8.RuneCountInString(name); {
	case strings.EqualFold(name, "Content-Length"):
		return "must not be Content-Length: it follows from the body"
	case IsConnectionHeader(name):
		return "must not be a hop-by-hop header: it belongs to the connection"
	case length < 1 || length > maxHeaderName:
		return fmt.Sprintf("must have 1 to %d characters", maxHeaderName)
	case !tokenPattern.MatchString(name):
		return "must be a header name: letters, digits and !#$%&'*+-.^_`|~"
	}
	return ""
}

// HeaderValueRule returns the rule that the value of a request's header breaks, or "".
func HeaderValueRule(value string) string {
	switch {
	case value == Redacted:
		return "must be the value that is to be sent: " + Redacted + " stands for one that the reader may not see"
	case utf8.RuneCountInString(value) > maxHeaderValue:
		return fmt.Sprintf("must have at most %d characters", maxHeaderValue)
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return "must not contain line breaks, NUL or other control characters"
	}
	return ""
}
