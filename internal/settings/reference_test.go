package settings

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReference_Documented checks that docs/settings.md contains the table of settings.
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

// TestReference_Deployed checks that the deployment files use no setting that does not exist.
func TestReference_Deployed(t *testing.T) {
	t.Parallel()
	known := map[string]bool{configName: true}
	for _, row := range table {
		known[row.name] = true
	}
	pattern, found := regexp.MustCompile(prefix+"[A-Z_]+"), 0
	err := filepath.WalkDir("../../deploy", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, name := range pattern.FindAllString(string(text), -1) {
			found++
			if !known[name] {
				t.Errorf("%s has %s, which is no setting", path, name)
			}
		}
		return err
	})
	if err != nil || found < 20 {
		t.Errorf("%d settings were found: %v", found, err)
	}
}
