package observations

import (
	"crypto/sha256"
	"strings"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/naming"
)

// Unknown replaces the missing service or environment of an item.
const Unknown = "unknown"

// Hard caps per account on the rows that reports create.
const (
	MaxSources      = 100_000 // of flags, and as many of loggers
	maxServices     = 10_000
	maxContextTypes = 1000
	maxContexts     = 100_000
)

// maxName bounds names, and the keys that programs choose.
const maxName = 255

// Outcome is the outcome of a report.
type Outcome struct {
	// Registered counts the distinct items that were kept.
	Registered int
	Rejected   []Rejected
}

// Rejected is the index of a skipped item in the report, and the reason.
type Rejected struct {
	Index  int
	Detail string
}

// IsLabel reports whether text may name a service, an environment or a logger.
func IsLabel(text string) bool { return naming.IsLabel(text, maxName) }

// SourceKey names a source: a resource, and the service and environment that
// use it.
type SourceKey struct{ Name, Service, Environment string }

// ID derives the source's id from the account and the key: every node derives the same.
func (k SourceKey) ID(account string) string {
	identity := strings.Join([]string{account, k.Name, k.Service, k.Environment}, "\x00") // no name has NUL
	const custom = 8                                                                      // the UUID version of ids made by other rules
	return uuid.NewHash(sha256.New(), uuid.Nil, []byte(identity), custom).String()
}

// Check returns the problem of the service or the environment, or "".
func (k SourceKey) Check(caller accounts.Caller) string {
	switch {
	case !IsLabel(k.Service):
		return "service " + naming.LabelRule(maxName)
	case !IsLabel(k.Environment):
		return "environment " + naming.LabelRule(maxName)
	case caller.RequireEnvironments(k.Environment) != nil:
		return "environment must be one that this key may report"
	}
	return ""
}

// Source records that a service uses a resource in an environment. Products implement it.
type Source[S any] interface {
	SourceKey() SourceKey
	// SourceID returns the id under which the source is stored.
	SourceID() string
	// Agrees reports whether two sources with the same key have the same content.
	Agrees(with S) bool
	// Describes reports whether the source describes its resource. The first source
	// in a report that does defines a new resource.
	Describes() bool
}

// Report is the valid items of a bulk report.
type Report[S Source[S]] struct {
	items    []S   // in the order of the report
	indexes  []int // of the items in the report
	latest   []S   // the last item of each source, in the order of their first items
	rejected []Rejected

	describing map[string]S // by name; nil until descriptions is called
}

// ReadReport reads the items of a report. read returns the problem of an item, or "".
func ReadReport[T any, S Source[S]](items []T, read func(T) (S, string)) *Report[S] {
	r := &Report[S]{items: make([]S, 0, len(items)), indexes: make([]int, 0, len(items)), latest: make([]S, 0, len(items))}
	places := make(map[SourceKey]int, len(items))
	for index, item := range items {
		source, wrong := read(item)
		if wrong != "" {
			r.rejected = append(r.rejected, Rejected{Index: index, Detail: wrong + "."})
			continue
		}
		r.items, r.indexes = append(r.items, source), append(r.indexes, index)
		key := source.SourceKey()
		if place, repeated := places[key]; repeated {
			r.latest[place] = source
			continue
		}
		places[key] = len(r.latest)
		r.latest = append(r.latest, source)
	}
	return r
}

// descriptions returns the items that describe the named resources.
func (r *Report[S]) descriptions(names []string) []S {
	if r.describing == nil { // once for all slices of the report
		r.describing = make(map[string]S, len(r.items))
		for _, item := range r.items {
			name := item.SourceKey().Name
			if first, exists := r.describing[name]; !exists || !first.Describes() && item.Describes() {
				r.describing[name] = item
			}
		}
	}
	found := make([]S, len(names))
	for i, name := range names {
		found[i] = r.describing[name]
	}
	return found
}

// reject rejects every item of the given sources.
func (r *Report[S]) reject(sources map[SourceKey]bool, detail string) (rejected []Rejected) {
	if len(sources) == 0 {
		return nil
	}
	for i, item := range r.items {
		if sources[item.SourceKey()] {
			rejected = append(rejected, Rejected{Index: r.indexes[i], Detail: detail})
		}
	}
	return rejected
}
