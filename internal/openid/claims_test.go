package openid

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func decode(t *testing.T, text string) claims {
	t.Helper()
	found := claims{}
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestClaims_RoleValues(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		claims, claim string
		want          []string
	}{
		{`{"groups":["a","b"]}`, "groups", []string{"a", "b"}},
		{`{"groups":"a b"}`, "groups", []string{"a b"}},
		{`{"realm_access":{"roles":["a"]}}`, "realm_access.roles", []string{"a"}},
		{`{"https://example.com/roles":["a"],"https://example":{"com/roles":"b"}}`, "https://example.com/roles", []string{"a"}},
		{`{"admin":true,"level":3}`, "admin", []string{"true"}},
		{`{"groups":[["a"],{"b":1},null,2]}`, "groups", []string{"a", "2"}},
		{`{"groups":{"a":1}}`, "groups", nil},
		{`{"groups":"a"}`, "groups.name", nil},
		{`{"groups":null}`, "groups", nil},
		{`{}`, "groups", nil},
		{`{"groups":"a"}`, "", nil},
	} {
		t.Run(fmt.Sprintf("%.40q %.40q", test.claims, test.claim), func(t *testing.T) {
			got := decode(t, test.claims).identity("i", "s", test.claim).Values
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s of %s: want (-), got (+):\n%s", test.claim, test.claims, diff)
			}
		})
	}
}

func TestClaims_EmailVerified(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"email_verified":true}`: true, `{"email_verified":"true"}`: true, `{"xms_edov":true}`: true, `{"xms_edov":"1"}`: true, `{"xms_edov":1}`: true,
		`{}`: false, `{"email_verified":false}`: false, `{"email_verified":"false"}`: false, `{"email_verified":null}`: false,
		`{"email_verified":false,"xms_edov":true}`: false, `{"email_verified":true,"xms_edov":false}`: true,
		`{"email_verified":["true"]}`: false, `{"xms_edov":0}`: false, `{"email_verified":"yes"}`: false,
	} {
		t.Run(text, func(t *testing.T) {
			if got := decode(t, text).identity("i", "s", "").EmailVerified; got != want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// TestClaims_Add: claims of the userinfo endpoint fill gaps, and never override claims of the token.
func TestClaims_Add(t *testing.T) {
	t.Parallel()
	token := decode(t, `{"email":"a@example.com","name":"A"}`)
	token.add(decode(t, `{"email":"a@example.com","email_verified":true,"name":"B","groups":["g"]}`))
	if diff := cmp.Diff(decode(t, `{"email":"a@example.com","email_verified":true,"name":"A","groups":["g"]}`), token); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
	token = decode(t, `{"email":"victim@example.com"}`)
	token.add(decode(t, `{"email":"attacker@example.com","email_verified":true,"xms_edov":true}`))
	if token.identity("i", "s", "").EmailVerified {
		t.Error("one address is verified because another is")
	}
}

func TestClaims_Complete(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"email":"e","email_verified":false,"name":"n","groups":[]}`: true,
		`{"email":"e","xms_edov":false,"name":"n","groups":[]}`:       true,
		`{"email":"e","email_verified":true,"name":"n"}`:              false,
		`{"email":"e","name":"n","groups":[]}`:                        false,
		`{"email_verified":true,"name":"n","groups":[]}`:              false,
	} {
		t.Run(text, func(t *testing.T) {
			if got := decode(t, text).complete("groups"); got != want {
				t.Errorf("got %v", got)
			}
		})
	}
}
