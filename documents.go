// Package signalbox embeds the documents of the repository, which the server shows
// as one book at /docs. They are here because files are embedded from below only.
package signalbox

import (
	"embed"
	"io/fs"
)

//go:embed README.md SECURITY.md CONTRIBUTING.md CHANGELOG.md docs/*.md docs/decisions/*.md docs/pictures/*.svg docs/screenshots/level-changes.webp docs/screenshots/levels-light.webp
var documents embed.FS

// Documents returns the documents by their paths in the repository.
func Documents() fs.FS { return documents }
