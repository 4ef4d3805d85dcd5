package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The script of the tour sends what the README shows: a reader must not be the
// first who tries it.
func TestScripts_TourIsReadmes(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join("testdata", "both", "tour.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	tour := strings.ReplaceAll(string(readme), `\[`, "[")
	tour = strings.ReplaceAll(tour, `\]`, "]")
	shown := regexp.MustCompile(`http://127\.0\.0\.1:8080(/[^" ;]*)|-d '([^']*)'|bin/signalbox (admin accounts [^-]*--plan [a-z]+)`).FindAllStringSubmatch(tour, -1)
	if len(shown) < 5 {
		t.Fatalf("the README shows %d requests only", len(shown))
	}
	for _, each := range shown {
		if text := each[1] + each[2] + each[3]; !strings.Contains(string(script), text) {
			t.Errorf("the script lacks what the README shows: %s", text)
		}
	}
}
