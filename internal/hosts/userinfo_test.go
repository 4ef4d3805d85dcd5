package hosts_test

import (
	"fmt"
	"testing"

	"github.com/signalbox/signalbox/internal/hosts"
)

func TestRedactUser(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://admin:hunter2@a.test/x":  "https://<redacted>@a.test/x",
		"https://admin@a.test":            "https://<redacted>@a.test",
		"https://@a.test":                 "https://<redacted>@a.test",
		"https://a:b@c@a.test:8080?q=x@y": "https://<redacted>@a.test:8080?q=x@y",
		"https://a.test/x@y":              "https://a.test/x@y",
		"https://a.test?mail=x@y":         "https://a.test?mail=x@y",
		"https://a.test#x@y":              "https://a.test#x@y",
		"https://admin:%zz@[::1]/":        "https://<redacted>@[::1]/",
		"mailto:a@b":                      "mailto:a@b",
		"a@b":                             "a@b",
		"":                                "",
	} {
		t.Run(fmt.Sprintf("%q", url), func(t *testing.T) {
			if got := hosts.RedactUser(url); got != want {
				t.Errorf("%s: got %s, want %s", url, got, want)
			}
		})
	}
	if user, rest, found := hosts.CutUser("https://admin:hunter2@a.test/x"); user != "admin:hunter2" || rest != "https://a.test/x" || !found {
		t.Errorf("got %q, %q, %v", user, rest, found)
	}
}
