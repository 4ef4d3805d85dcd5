package naming_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/naming"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"default", "enabled", "environments", "expires_at", "level_ttl_seconds", "name", "ttl_seconds"}
	for name, want := range map[string]string{
		"enable": "enabled", "Enabled": "enabled", "naem": "name", "expires_in": "expires_at", "ttl": "level_ttl_seconds", "envronments": "environments",
		"environment": "environments", "default_value": "default", "timezone": "", "x": "", "": "", strings.Repeat("name", 100): "",
	} {
		t.Run(fmt.Sprintf("%.40q", name), func(t *testing.T) {
			if got := naming.Nearest(name, known); got != want {
				t.Errorf("%q: got %q, want %q", name, got, want)
			}
		})
	}
	if got := naming.Nearest("name", []string{strings.Repeat("name", 100)}); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestDidYouMean(t *testing.T) {
	t.Parallel()
	if got := naming.DidYouMean("prod", []string{"production", "staging"}); got != " Did you mean production?" {
		t.Errorf("got %q", got)
	}
	if got := naming.DidYouMean("prod", nil); got != "" {
		t.Errorf("got %q", got)
	}
}
