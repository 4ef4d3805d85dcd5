package plans_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/signalbox/signalbox/internal/plans"
)

// The file of plans that the manual shows is accepted as it is.
func TestParse_Manual(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, found := bytes.Cut(manual, []byte("\n```json\n"))
	shown, _, closed := bytes.Cut(shown, []byte("\n```\n"))
	if !found || !closed {
		t.Fatal("docs/operations.md shows no file of plans")
	}
	if table, err := plans.Parse(bytes.NewReader(shown)); err != nil || len(table) == 0 {
		t.Errorf("got %v, %v", table, err)
	}
}
