package hosts_test

import (
	"testing"

	"github.com/signalbox/signalbox/internal/hosts"
)

func TestMailbox(t *testing.T) {
	t.Parallel()
	for email, want := range map[string]string{
		"Ada@Example.COM":           "ada@example.com",
		"nİk@example.com":           "nİk@example.com",      // not nik
		"ni\u212A@example.com":      "ni\u212A@example.com", // the Kelvin sign is not k
		"ÄDA@example.com":           "Äda@example.com",
		"ada@bücher.example":        "ada@xn--bcher-kva.example",
		"ada@Bücher.Example":        "ada@xn--bcher-kva.example",
		"ada@XN--BCHER-KVA.example": "ada@xn--bcher-kva.example",
		"ada@bu\u0308cher.example":  "", // not in the normal form
		"ada@BÜCHER.example":        "",
		"nik@examplİ.com":           "",
		"nik@example\u212A.com":     "",
		"nik@ｅxample.com":           "", // a full-width letter
		"nik@example。com":           "", // an ideographic full stop
		"nik@exa\u00ADmple.com":     "", // a soft hyphen, which lookups drop
		"nik@exa\u200Dmple.com":     "",
		"nik@localhost":             "nik@localhost",
		"ada@straße.example":        "ada@xn--strae-oqa.example",
		"nik@a_b.example.com":       "nik@a_b.example.com",
		"nik":                       "nik",
	} {
		t.Run(email, func(t *testing.T) {
			got, err := hosts.Mailbox(email)
			if got != want || (err != nil) != (want == "") {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}
