package book

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

const (
	maxQuery   = 100 // bytes of a query; the rest is ignored
	maxResults = 30
	excerpt    = 110 // bytes of text on either side of a hit
)

// index has every section of the book. It is small enough to scan: a search takes less
// than a millisecond.
type index []hit

// hit is a section of the index.
type hit struct {
	title, heading, link, text string
	folded                     string // the text in lower case
	weight                     int    // the weight of its kind of page
}

// result is a section that a search found.
type result struct {
	Title, Heading, Link string
	Excerpt              []piece
	score                int
}

// piece is text of an excerpt.
type piece struct {
	Text string
	Hit  bool // whether the text is one of the words
}

// hits returns the sections of a document for the index.
func (d *document) hits() []hit {
	found := make([]hit, 0, len(d.sections))
	for _, each := range d.sections {
		link, heading := d.path, ""
		if each.Anchor != "" {
			link, heading = d.path+"#"+each.Anchor, each.Heading
		}
		found = append(found, hit{title: d.title, heading: heading, link: link, text: each.text, folded: strings.ToLower(each.text), weight: weight(d.file)})
	}
	return found
}

// weight ranks documents for users of Signalbox above documents for its developers.
func weight(file string) int {
	switch {
	case strings.HasPrefix(file, "docs/decisions/"), file == "CHANGELOG.md", file == contentsFile:
		return 1
	case file == "CONTRIBUTING.md", file == "docs/architecture.md", file == "docs/benchmarks.md":
		return 2
	}
	return 4
}

// words returns the words in the first maxQuery bytes of a query.
func words(query string) []string {
	if len(query) > maxQuery {
		query = strings.ToValidUTF8(query[:maxQuery], "")
	}
	return strings.Fields(strings.ToLower(query))
}

// find returns the sections that have all words of a query, the best first.
func (i index) find(query string) []result {
	wanted := words(query)
	if len(wanted) == 0 {
		return nil
	}
	pattern := marker(wanted)
	var found []result
	for _, each := range i {
		if score := each.score(wanted); score > 0 {
			found = append(found, result{Title: each.title, Heading: each.heading, Link: each.link, Excerpt: each.excerpt(pattern), score: score})
		}
	}
	slices.SortStableFunc(found, func(a, b result) int { return cmp.Compare(b.score, a.score) })
	return found[:min(len(found), maxResults)]
}

// score returns how well a section fits, or 0 if a word is missing. A word in a heading
// counts for more than many words of text, because it names the topic.
func (h hit) score(wanted []string) int {
	title, heading, total := strings.ToLower(h.title), strings.ToLower(h.heading), 0
	for _, word := range wanted {
		points := min(strings.Count(h.folded, word), 5)
		if strings.Contains(heading, word) {
			points += 12
		}
		if strings.Contains(title, word) {
			points += 6
		}
		if points == 0 {
			return 0
		}
		total += points
	}
	return total * h.weight
}

// marker matches any of the words, in any case.
func marker(wanted []string) *regexp.Regexp {
	quoted := make([]string, len(wanted))
	for i, word := range wanted {
		quoted[i] = regexp.QuoteMeta(word)
	}
	return regexp.MustCompile("(?i)" + strings.Join(quoted, "|"))
}

// excerpt returns the text around the first of the words, cut into pieces.
func (h hit) excerpt(pattern *regexp.Regexp) []piece {
	from, to := 0, 2*excerpt
	if first := pattern.FindStringIndex(h.text); first != nil {
		from, to = first[0]-excerpt, first[1]+excerpt
	}
	shown, pieces := window(h.text, from, to), []piece(nil)
	end := 0
	for _, each := range pattern.FindAllStringIndex(shown, -1) {
		pieces = append(pieces, piece{Text: shown[end:each[0]]}, piece{Text: shown[each[0]:each[1]], Hit: true})
		end = each[1]
	}
	return append(pieces, piece{Text: shown[end:]})
}

// window cuts a text at the borders of words, with … where something is left out.
func window(text string, from, to int) string {
	from, to = max(from, 0), min(to, len(text))
	for from > 0 && text[from-1] != ' ' {
		from--
	}
	for to < len(text) && text[to] != ' ' {
		to++
	}
	shown := text[from:to]
	if from > 0 {
		shown = "…" + shown
	}
	if to < len(text) {
		shown += "…"
	}
	return shown
}
