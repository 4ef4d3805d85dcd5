package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/hosts"
)

// issuer accepts the URL of an OpenID Connect provider. It keeps the spelling, which tokens must repeat exactly. http is
// only for providers on the same machine: without TLS, an attacker on the network could sign in as anybody.
func issuer(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		return "", errors.New("is not an https URL, for example https://login.example.com; http is for localhost only")
	}
	if strings.ContainsAny(text, "?#") {
		return "", errors.New("has a query or a fragment, which no issuer has")
	}
	return text, nil
}

func loopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// roles accepts VALUE=ROLE,... or a JSON object. Values with commas need the JSON object.
func roles(text string) (map[string]string, error) {
	given := map[string]string{}
	if strings.HasPrefix(text, "{") {
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			return nil, errors.New(`is not a JSON object of texts, for example {"CN=Admins,DC=example": "ADMIN"}`)
		}
	} else if err := rolePairs(given, text); err != nil {
		return nil, err
	}
	for value, role := range given {
		known := strings.ToUpper(strings.TrimSpace(role))
		if !slices.Contains([]string{"OWNER", "ADMIN", "MEMBER", "VIEWER"}, known) || value == "" {
			return nil, fmt.Errorf("gives %q the role %q; the roles are OWNER, ADMIN, MEMBER and VIEWER, for example admins=ADMIN", value, role)
		}
		given[value] = known
	}
	return given, nil
}

func rolePairs(given map[string]string, text string) error {
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		at := strings.LastIndex(item, "=") // the value may contain = too
		if at < 0 {
			return errors.New("is not VALUE=ROLE pairs separated by commas, for example admins=ADMIN,developers=MEMBER")
		}
		value := strings.TrimSpace(item[:at])
		if _, twice := given[value]; twice {
			return fmt.Errorf("gives %q a role twice; keep one", value)
		}
		given[value] = item[at+1:]
	}
	return nil
}

// domains accepts domains of e-mail addresses, and returns them in their canonical form.
func domains(text string) ([]string, error) {
	var found, bad []string
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		domain, err := hosts.Domain(item)
		switch {
		case item == "":
		case err != nil, item != "*" && (strings.ContainsAny(item, "@*/: \t") || strings.HasPrefix(item, ".")):
			bad = append(bad, strconv.Quote(item))
		default:
			found = append(found, domain)
		}
	}
	if len(bad) > 0 {
		return nil, fmt.Errorf("has entries that are not domains (%s); write example.com, or * alone for any", strings.Join(bad, ", "))
	}
	if slices.Contains(found, "*") && len(found) > 1 {
		return nil, errors.New("has domains beside *, which stands for any; keep one or the other")
	}
	return found, nil
}
