package summary

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// Sentence says one thing that a change did.
type Sentence struct {
	Text        string `json:"text"`
	Environment string `json:"environment,omitempty"` // where it holds; empty is everywhere
	Pointer     string `json:"pointer"`               // the member, as a JSON Pointer into the attributes
}

// String returns the sentence with its environment.
func (s Sentence) String() string {
	if s.Environment == "" {
		return s.Text
	}
	return s.Text + " in " + s.Environment
}

// maxSentences bounds the sentences of one change.
const maxSentences = 100

// Of returns what a change did. A change without documents has no sentences if the
// documents were removed or are hidden from the reader.
func Of(change changes.Change) []Sentence {
	sentences := []Sentence{}
	switch {
	case change.Private || change.Trimmed:
		return sentences
	case change.Key == changes.AllKeys:
		return several(change)
	case change.Kind == "job_health":
		return health(change.Before, change.After)
	case change.After == nil:
		return append(sentences, Sentence{Text: "Deleted"})
	case change.Before == nil:
		sentences = append(sentences, Sentence{Text: made(change.Action)})
	case change.Action == changes.Revoked:
		return append(sentences, Sentence{Text: "Revoked"})
	}
	c := comparison{kind: change.Kind, created: change.Before == nil, sentences: sentences}
	c.members("", "", object(change.Before), object(change.After))
	return c.bounded()
}

// made names the way in which a resource came to be.
func made(action changes.Action) string {
	if action == changes.Discovered {
		return "Reported by a running service for the first time"
	}
	return "Created"
}

// several summarizes a change of many resources.
func several(change changes.Change) []Sentence {
	var many changes.Several
	if json.Unmarshal(change.After, &many) != nil || len(many.Keys) == 0 {
		return []Sentence{}
	}
	verb := map[changes.Action]string{changes.Discovered: "reported for the first time", changes.Deleted: "deleted"}[change.Action]
	if verb == "" {
		verb = "changed"
	}
	const named = 3
	names := strings.Join(many.Keys[:min(named, len(many.Keys))], ", ")
	if rest := len(many.Keys) - named; rest > 0 {
		names += fmt.Sprintf(" and %d more", rest)
	}
	return []Sentence{{Text: fmt.Sprintf("%s: %s", label(verb), names)}}
}

// comparison collects the sentences of one change.
type comparison struct {
	kind      string
	created   bool
	sentences []Sentence
}

func (c *comparison) say(environment, pointer, format string, args ...any) {
	c.sentences = append(c.sentences, Sentence{Text: fmt.Sprintf(format, args...), Environment: environment, Pointer: pointer})
}

// bounded returns the first sentences, and how many there are more.
func (c *comparison) bounded() []Sentence {
	if rest := len(c.sentences) - maxSentences; rest > 0 {
		c.sentences = append(c.sentences[:maxSentences:maxSentences], Sentence{Text: fmt.Sprintf("%d more differences", rest)})
	}
	return c.sentences
}

// object returns the members of a JSON object; of anything else, none.
func object(text json.RawMessage) map[string]json.RawMessage {
	members := map[string]json.RawMessage{}
	rawjson.Members(text, func(name string, value json.RawMessage) { members[name] = value })
	return members
}
