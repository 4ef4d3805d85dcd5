package telemetry

import (
	"net/http"
	"strings"
)

// A path may hold a secret: the programs that read level files can send no headers, and people paste keys, and the tokens of event
// streams, into wrong places.
const (
	levelsPrefix  = "/levels/"
	streamsPrefix = "/ofrep/v1/events/"
	keyPrefix     = "sk_api_"
	hiddenKey     = "<redacted>"
)

// Path returns the path of a request for logs and traces, without keys.
func Path(r *http.Request) string { return hideKeys(r.URL.Path) }

// hideKeys replaces the parts of a path that may be secret: the part after /levels/ or after the path of event streams, and every
// part that begins like a key.
func hideKeys(path string) string {
	for _, prefix := range []string{levelsPrefix, streamsPrefix} {
		if rest, is := strings.CutPrefix(path, prefix); is {
			_, after, more := strings.Cut(rest, "/")
			path = prefix + hiddenKey
			if more {
				path += "/" + after
			}
		}
	}
	for from := 0; ; {
		at := strings.Index(path[from:], keyPrefix)
		if at < 0 {
			return path
		}
		begin := from + at
		end := len(path)
		if slash := strings.IndexByte(path[begin:], '/'); slash >= 0 {
			end = begin + slash
		}
		path = path[:begin] + hiddenKey + path[end:]
		from = begin + len(hiddenKey)
	}
}

// escapedPath is Path in its escaped form, as it was sent if it holds no key.
func escapedPath(r *http.Request) string {
	if hidden := hideKeys(r.URL.Path); hidden != r.URL.Path {
		return hidden
	}
	return r.URL.EscapedPath()
}
