package hosts

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Mailbox returns the form of an e-mail address for comparisons: ASCII letters in lower case, the domain as of Domain.
// Nothing else is folded, because Unicode's lower case turns two addresses, such as "nİk" and "nik", into one.
func Mailbox(email string) (string, error) {
	at := strings.LastIndexByte(email, '@')
	domain, err := Domain(email[at+1:])
	if err != nil {
		return "", err
	}
	return LowerASCII(email[:at+1]) + domain, nil
}

// Domain returns the form of a domain for comparisons: in ASCII and lower case. A domain of another script must be spelled as its
// registry has it. Lookups also map characters such as "K" (the Kelvin sign) to others; here that is an error, because
// permission to sign in must not depend on a mapping.
func Domain(domain string) (string, error) {
	lower := LowerASCII(domain)
	if isASCII(lower) {
		return lower, nil
	}
	ascii, err := idna.Registration.ToASCII(lower)
	if err != nil {
		return "", fmt.Errorf("the domain %q has no ASCII form: %w", domain, err)
	}
	return ascii, nil
}

// LowerASCII returns text with the letters A to Z in lower case.
func LowerASCII(text string) string {
	lower := []byte(text)
	for i, each := range lower {
		if 'A' <= each && each <= 'Z' {
			lower[i] = each + ('a' - 'A')
		}
	}
	return string(lower)
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
