package cli_test

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestExport_Flagd(t *testing.T) {
	t.Parallel()
	term, client := newAccount(t)
	term.must("flags", "create", "plain")
	term.must("flags", "create", "list", "--type", "json", "--default", "[1]")
	served, err := client.Send(t.Context(), "GET", "/flagd/v1/flags/production", nil)
	if err != nil {
		t.Fatal(err)
	}
	got := term.run("export", "--format", "flagd", "-e", "production")
	if got.code != 0 || got.stdout != string(served) || !json.Valid(served) || !strings.Contains(got.stderr, "cannot express them: list") {
		t.Errorf("got %+v, want %s", got, served)
	}
	for _, wrong := range [][]string{{"--format", "flipt"}, {"--format", "flagd", "--kind", "flag"}} {
		t.Run(strings.Join(wrong, " "), func(t *testing.T) {
			if got := term.in(t).run(append([]string{"export"}, wrong...)...); got.code != 2 {
				t.Errorf("%v: got %+v", wrong, got)
			}
		})
	}
	if got := term.run("export", "--format", "flagd", "-e", "nowhere"); got.code == 0 {
		t.Errorf("got %+v", got)
	}
}
