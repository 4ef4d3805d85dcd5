package observations

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/transaction"
)

// ReportTx is the part of a transaction that every report needs.
type ReportTx interface {
	changes.Recorder
	accounts.AuthorityTx
}

// Product has the functions that read and write the sources of flags or of loggers.
// R and W are the transactions in which the product reads and writes.
type Product[R interface{ Now() time.Time }, W ReportTx, S Source[S]] struct {
	Store transaction.Store[R, W]
	// Reading returns the reading part of a writing transaction.
	Reading   func(tx W) R
	Refreshes *Refreshes
	Slots     Slots
	Seen      Refreshed // the instant to refresh when a source is seen

	Kind         string // of the resources that have sources
	MaxResources int
	// Taken is the rejection of an item whose name belongs to another kind of resource.
	Taken string

	// Known returns the stored sources whose keys were reported.
	Known func(tx R, ctx context.Context, account string, reported []S) (map[SourceKey]S, error)
	// Kinds returns the kind of resource of each name that is in use.
	Kinds          func(tx R, ctx context.Context, account string, names []string) (map[string]string, error)
	CountResources func(tx R, ctx context.Context, account string) (int, error)
	CountSources   func(tx R, ctx context.Context, account string) (int, error)
	// Create creates one new resource from each source.
	Create func(tx W, ctx context.Context, described []S) error
	// Save writes new or changed sources.
	Save func(tx W, ctx context.Context, sources []S) error
}

// Sources takes reports of a product's sources. The zero value is ready for use.
type Sources[R interface{ Now() time.Time }, W ReportTx, S Source[S]] struct {
	queue    queue[W]
	full     fullAccounts
	underway atomic.Int64 // reports
}

// Report stores the new resources and sources of a report, up to the caps, and the
// changed sources. It refreshes all other sources. A report that fails may have been
// written in part; repeating it writes the rest.
func (s *Sources[R, W, S]) Report(ctx context.Context, product Product[R, W, S], caller accounts.Caller, report *Report[S]) (Outcome, error) {
	if len(report.latest) == 0 {
		return Outcome{Rejected: report.rejected}, nil
	}
	s.underway.Add(1)
	defer s.underway.Add(-1)
	var found comparison[S]
	err := product.Slots.Take(ctx, len(report.latest), func() (err error) {
		found, err = transaction.Read(ctx, product.Store, func(ctx context.Context, tx R) (comparison[S], error) {
			return product.compare(ctx, tx, caller.Account, report, s.full.of(caller.Account, tx.Now()))
		})
		return err
	})
	if err != nil {
		return Outcome{}, err
	}
	outcome := Outcome{Registered: len(found.seen), Rejected: report.rejected}
	for rest := found.news; len(rest) > 0; {
		slice := rest[:min(len(rest), s.sliceSize())]
		rest = rest[len(slice):]
		var added addition
		err := s.queue.Write(ctx, product.Store, caller.Account, queuedWrite[W]{items: len(slice), check: confirm[W](caller), write: func(ctx context.Context, tx W, shared *sharedCount) (err error) {
			added, err = product.add(ctx, tx, caller, report, slice, shared)
			return err
		}})
		if err != nil {
			return Outcome{}, err
		}
		s.full.note(caller.Account, added.lacking, found.at)
		outcome.Registered += added.kept
		outcome.Rejected = append(outcome.Rejected, added.rejected...)
	}
	product.Refreshes.Note(caller.Account, product.Seen, found.at, found.seen...)
	return outcome, nil
}

func (s *Sources[R, W, S]) sliceSize() int {
	if s.underway.Load() > 1 {
		return sliceSize
	}
	return aloneSize
}

// Deleted makes the next report check the capacity of an account again.
func (s *Sources[R, W, S]) Deleted(account string) { s.full.forget(account) }

// comparison is the result of comparing a report with the stored sources.
type comparison[S any] struct {
	at   time.Time
	seen []string // ids of unchanged sources
	news []S      // new or changed sources
}

func (p Product[R, W, S]) compare(ctx context.Context, tx R, account string, report *Report[S], lacking shortage) (comparison[S], error) {
	found := comparison[S]{at: tx.Now()}
	known, err := p.Known(tx, ctx, account, report.latest)
	if err != nil {
		return found, err
	}
	var unknown []S
	for _, source := range report.latest {
		stored, exists := known[source.SourceKey()]
		switch {
		case !exists:
			unknown = append(unknown, source)
		case stored.Agrees(source):
			found.seen = append(found.seen, stored.SourceID())
		default:
			found.news = append(found.news, source)
		}
	}
	unknown, err = p.fitting(ctx, tx, account, unknown, lacking)
	found.news = append(found.news, unknown...)
	return found, err
}

// fitting drops sources that the account is known to have no capacity for: sources of
// existing resources if it has too many sources, and sources of new resources if it
// has too many resources.
func (p Product[R, W, S]) fitting(ctx context.Context, tx R, account string, unknown []S, lacking shortage) ([]S, error) {
	if len(unknown) == 0 || lacking == (shortage{}) {
		return unknown, nil
	}
	kinds, err := p.Kinds(tx, ctx, account, namesOf(unknown))
	return slices.DeleteFunc(unknown, func(source S) bool {
		kind := kinds[source.SourceKey().Name]
		return (lacking.sources && kind == p.Kind) || (lacking.resources && kind == "")
	}), err
}

// addition is the outcome of add.
type addition struct {
	kept     int
	rejected []Rejected
	lacking  shortage
}

// add writes a slice of the news, and creates missing resources, both up to their
// caps.
func (p Product[R, W, S]) add(ctx context.Context, tx W, caller accounts.Caller, report *Report[S], news []S, shared *sharedCount) (added addition, err error) {
	names := namesOf(news)
	kinds, err := p.Kinds(p.Reading(tx), ctx, caller.Account, names)
	if err != nil {
		return added, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return kinds[name] != "" })
	created, err := p.create(ctx, tx, caller, names, report)
	if err != nil {
		return added, err
	}
	for _, name := range created {
		kinds[name] = p.Kind
	}
	added.lacking.resources = len(created) < len(names)
	sources, taken := make([]S, 0, len(news)), map[SourceKey]bool{}
	for _, source := range news {
		switch kinds[source.SourceKey().Name] {
		case p.Kind:
			sources = append(sources, source)
		case "": // there was no capacity for the resource
		default:
			taken[source.SourceKey()] = true
		}
	}
	added.rejected = report.reject(taken, p.Taken)
	wanted := len(sources)
	if sources, err = p.upToCap(ctx, tx, caller.Account, sources, shared); err != nil {
		return added, err
	}
	added.kept, added.lacking.sources = len(sources), len(sources) < wanted
	return added, p.Save(tx, ctx, sources)
}

// create creates as many of the named resources as the account may have, and
// records them as one change.
func (p Product[R, W, S]) create(ctx context.Context, tx W, caller accounts.Caller, names []string, report *Report[S]) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	count, err := p.CountResources(p.Reading(tx), ctx, caller.Account)
	if err != nil || count >= p.MaxResources {
		return nil, err
	}
	names = names[:min(len(names), p.MaxResources-count)]
	if err := p.Create(tx, ctx, report.descriptions(names)); err != nil {
		return nil, err
	}
	return names, changes.RecordSeveral(ctx, tx, caller.Account, caller.Actor(), changes.Discovered, p.Kind, changes.Several{Keys: names})
}

// upToCap drops the new sources that the account has no capacity for. It looks up
// which sources are new only if the account is near its cap.
func (p Product[R, W, S]) upToCap(ctx context.Context, tx W, account string, sources []S, shared *sharedCount) ([]S, error) {
	if err := p.count(ctx, tx, account, shared); err != nil {
		return nil, err
	}
	if len(sources) <= shared.capacity {
		shared.capacity -= len(sources)
		return sources, nil
	}
	shared.known = false // the capacity is exact only after a new count: known sources were subtracted too
	if err := p.count(ctx, tx, account, shared); err != nil {
		return nil, err
	}
	known, err := p.Known(p.Reading(tx), ctx, account, sources)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(sources, func(source S) bool {
		if _, exists := known[source.SourceKey()]; exists {
			return false
		}
		shared.capacity--
		return shared.capacity < 0
	}), nil
}

// count counts an account's sources unless shared has the count.
func (p Product[R, W, S]) count(ctx context.Context, tx W, account string, shared *sharedCount) error {
	if shared.known {
		return nil
	}
	stored, err := p.CountSources(p.Reading(tx), ctx, account)
	shared.known, shared.capacity = true, MaxSources-stored
	return err
}

// namesOf returns the names of sources, each once.
func namesOf[S Source[S]](sources []S) []string {
	return distinct(sources, func(source S) string { return source.SourceKey().Name })
}

// distinct returns the names of items, each once, in the order of their first appearance.
func distinct[T any](items []T, name func(T) string) (names []string) {
	listed := make(map[string]bool, len(items))
	for _, item := range items {
		if name := name(item); !listed[name] {
			listed[name] = true
			names = append(names, name)
		}
	}
	return names
}

// fullFor is how long an account that lacked capacity counts as full.
const fullFor = 10 * time.Second

// shortage says whether an account lacks capacity for resources or for sources.
type shortage struct{ resources, sources bool }

// fullAccounts remembers the accounts that lacked capacity, and until when they count
// as full.
type fullAccounts struct {
	mu                 sync.Mutex
	resources, sources map[string]time.Time
}

// of returns the known shortage of an account.
func (f *fullAccounts) of(account string, now time.Time) shortage {
	f.mu.Lock()
	defer f.mu.Unlock()
	return shortage{now.Before(f.resources[account]), now.Before(f.sources[account])}
}

// note remembers the shortage of an account.
func (f *fullAccounts) note(account string, lacking shortage, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.resources == nil {
		f.resources, f.sources = map[string]time.Time{}, map[string]time.Time{}
	}
	if lacking.resources {
		f.resources[account] = now.Add(fullFor)
	}
	if lacking.sources {
		f.sources[account] = now.Add(fullFor)
	}
}

func (f *fullAccounts) forget(account string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.resources, account)
	delete(f.sources, account)
}
