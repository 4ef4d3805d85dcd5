package settings

import (
	"os"
	"strings"
	"testing"
)

// TestReference_Documented keeps docs/settings.md what the table says.
func TestReference_Documented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(page), Reference()) {
		t.Errorf("docs/settings.md must end with this table:\n%s", Reference())
	}
}
