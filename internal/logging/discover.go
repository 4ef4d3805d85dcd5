package logging

import (
	"context"
	"slices"
	"time"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/bulk"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/transaction"
)

// Observation is one logger as a running service reports it.
type Observation struct {
	Name string // in any spelling
	// Level is what the framework was told, ResolvedLevel what that came to;
	// empty for not said.
	Level, ResolvedLevel string
	Service, Environment string
}

// seen is an observation that was read.
type seen struct {
	SourceKey
	level, resolved loglevel.Level
	indexes         []int // in the report: its own, and those of what it stands for
}

// read gives the observation, or what is wrong with it.
func (o Observation) read(caller accounts.Caller) (seen, string) {
	made := seen{SourceKey: SourceKey{loglevel.Normalize(o.Name), o.Service, o.Environment}}
	known, resolves := o.Level == "", o.ResolvedLevel == ""
	if !known {
		made.level, known = loglevel.Parse(o.Level)
	}
	if made.resolved = made.level; !resolves {
		made.resolved, resolves = loglevel.Parse(o.ResolvedLevel)
	}
	if made.resolved == loglevel.None {
		made.resolved = loglevel.Default
	}
	if rule := brokenKeyRule(made.Logger); rule != "" {
		return made, "id " + rule
	}
	switch {
	case !known:
		return made, "level must be TRACE, DEBUG, INFO, WARN, ERROR, FATAL or SILENT"
	case !resolves:
		return made, "resolved_level must be TRACE, DEBUG, INFO, WARN, ERROR, FATAL or SILENT"
	case !usable(o.Service):
		return made, "service must have 1 to 255 characters and no control characters"
	case !usable(o.Environment):
		return made, "environment must have 1 to 255 characters and no control characters"
	case caller.RequireEnvironment(o.Environment) != nil:
		return made, "environment must be one that this key may report"
	}
	return made, ""
}

// Report takes what services observe: new loggers are discovered, and every
// observation refreshes its source. The first explicit level of a logger is
// its level while it is discovered. Every role may call it.
func (s *Service) Report(ctx context.Context, caller accounts.Caller, observations []Observation) (bulk.Outcome, error) {
	r := newReport(caller, observations)
	if len(r.ids) == 0 {
		return bulk.Outcome{Rejected: r.rejected}, nil
	}
	news, err := transaction.Read(ctx, s.Store, func(tx ReadTx) ([]int, error) {
		return r.news(ctx, tx, s.full.of(caller.Account, tx.Now()))
	})
	if err != nil {
		return bulk.Outcome{}, err
	}
	kept := len(r.touched)
	if len(news) > 0 {
		written, err := s.reports.file(ctx, s.Store, &filing{report: r, caller: caller, news: news})
		if err != nil {
			return bulk.Outcome{}, err
		}
		kept += written
		s.full.note(caller.Account, r.lackLoggers, r.lackSources, r.at)
	}
	s.Sightings.Note(caller.Account, r.touched, r.at)
	return bulk.Outcome{Registered: kept, Rejected: append(r.rejected, r.conflicts...)}, nil
}

// report is the work of one bulk report. Its sources are distinct, in the
// order in which they first come.
type report struct {
	account  string
	ids      []string
	latest   []seen // the last observation of each source
	rejected []bulk.Rejected
	// levels has the first explicit level of each logger, none when there is none.
	levels map[string]loglevel.Level

	touched   []string // sources that were only seen again
	at        time.Time
	conflicts []bulk.Rejected // loggers whose key a group has

	lackLoggers, lackSources bool // there was no room for some
}

func newReport(caller accounts.Caller, observations []Observation) *report {
	r := &report{account: caller.Account, levels: map[string]loglevel.Level{}}
	places := make(map[SourceKey]int, len(observations))
	for index, observation := range observations {
		item, wrong := observation.read(caller)
		if wrong != "" {
			r.rejected = append(r.rejected, bulk.Rejected{Index: index, Detail: wrong + "."})
			continue
		}
		item.indexes = []int{index}
		if r.levels[item.Logger] == loglevel.None {
			r.levels[item.Logger] = item.level
		}
		if place, repeated := places[item.SourceKey]; repeated {
			item.indexes = append(r.latest[place].indexes, index)
			r.latest[place] = item
			continue
		}
		places[item.SourceKey] = len(r.latest)
		r.latest = append(r.latest, item)
		r.ids = append(r.ids, item.ID(caller.Account))
	}
	return r
}

// news lists the sources that are new or say something new. The others are
// only seen again, which needs no transaction, or there is no room for them.
func (r *report) news(ctx context.Context, tx ReadTx, full rooms) ([]int, error) {
	r.at = tx.Now()
	known, err := tx.LoggerSourcesByID(ctx, r.account, r.ids)
	if err != nil {
		return nil, err
	}
	var changed, unknown []int
	for place, item := range r.latest {
		source, exists := known[r.ids[place]]
		switch {
		case !exists:
			unknown = append(unknown, place)
		case source.Level == item.level && source.ResolvedLevel == item.resolved:
			r.touched = append(r.touched, source.ID)
		default:
			changed = append(changed, place)
		}
	}
	unknown, err = r.withRoom(ctx, tx, unknown, full)
	return append(changed, unknown...), err
}

// withRoom drops new sources that an account is known to have no room for:
// those of existing loggers when it is full of sources, and those of new ones
// when it is full of loggers.
func (r *report) withRoom(ctx context.Context, tx ReadTx, unknown []int, full rooms) ([]int, error) {
	noLoggers, noSources := r.at.Before(full.loggers), r.at.Before(full.sources)
	if len(unknown) == 0 || (!noLoggers && !noSources) {
		return unknown, nil
	}
	kinds, err := tx.LoggerKinds(ctx, r.account, r.loggersAt(unknown))
	return slices.DeleteFunc(unknown, func(place int) bool {
		kind := kinds[r.latest[place].Logger]
		return (noSources && kind == Kind) || (noLoggers && kind == "")
	}), err
}

// loggersAt gives the loggers of places, each once.
func (r *report) loggersAt(places []int) (keys []string) {
	listed := make(map[string]bool, len(places))
	for _, place := range places {
		if key := r.latest[place].Logger; !listed[key] {
			listed[key] = true
			keys = append(keys, key)
		}
	}
	return keys
}

// write makes the loggers and writes the sources of places, and counts those
// that were kept.
func (r *report) write(ctx context.Context, tx Tx, caller accounts.Caller, places []int, left *room) (int, error) {
	r.conflicts, r.lackLoggers, r.lackSources = nil, false, false // a transaction may run again
	kinds, err := r.discover(ctx, tx, caller, places)
	if err != nil {
		return 0, err
	}
	var sources []Source
	for _, place := range places {
		item := r.latest[place]
		switch kinds[item.Logger] {
		case Kind:
			sources = append(sources, item.source(r.account, r.ids[place], tx.Now()))
		case KindGroup:
			for _, index := range item.indexes {
				r.conflicts = append(r.conflicts, bulk.Rejected{Index: index, Detail: "id must not be that of a log group: loggers and log groups share their ids."})
			}
		}
	}
	wanted := len(sources)
	if sources, err = r.upToCap(ctx, tx, sources, left); err != nil {
		return 0, err
	}
	r.lackSources = len(sources) < wanted
	return len(sources), tx.SaveLoggerSources(ctx, sources)
}

// discover makes the loggers that do not exist, up to the cap, and tells the
// kind of every key that is in use then.
func (r *report) discover(ctx context.Context, tx Tx, caller accounts.Caller, places []int) (map[string]string, error) {
	keys := r.loggersAt(places)
	kinds, err := tx.LoggerKinds(ctx, r.account, keys)
	if err != nil {
		return nil, err
	}
	keys = slices.DeleteFunc(keys, func(key string) bool { return kinds[key] != "" })
	if len(keys) == 0 {
		return kinds, nil
	}
	return kinds, r.create(ctx, tx, caller, keys, kinds)
}

func (r *report) create(ctx context.Context, tx Tx, caller accounts.Caller, keys []string, kinds map[string]string) error {
	count, err := tx.CountLoggers(ctx, r.account)
	if err != nil {
		return err
	}
	wanted := len(keys)
	keys = keys[:min(wanted, max(0, MaxLoggers-count))]
	r.lackLoggers = len(keys) < wanted
	made := make([]Logger, len(keys))
	for i, key := range keys {
		kinds[key] = Kind
		made[i] = Logger{Account: r.account, Key: key, Name: key, CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
			Levels: Levels{Level: r.levels[key], Environments: map[string]Override{}}}
	}
	if err := tx.SaveLoggers(ctx, made); err != nil {
		return err
	}
	return changes.RecordSeveral(ctx, tx, r.account, caller.Actor(), changes.Discovered, Kind, changes.Several{Keys: keys})
}

// room is how many more sources an account may have. It is counted once in a
// transaction, and only when it is asked for.
type room struct {
	counted bool
	sources int
}

func (l *room) count(ctx context.Context, tx Tx, account string) error {
	if l.counted {
		return nil
	}
	count, err := tx.CountLoggerSources(ctx, account)
	l.counted, l.sources = true, MaxSources-count
	return err
}

// upToCap drops the new sources that an account has no room for. Which are new
// matters only when room is short.
func (r *report) upToCap(ctx context.Context, tx Tx, sources []Source, left *room) ([]Source, error) {
	if err := left.count(ctx, tx, r.account); err != nil {
		return nil, err
	}
	if len(sources) <= left.sources {
		left.sources -= len(sources)
		return sources, nil
	}
	*left = room{} // some that were taken for new may have been known
	if err := left.count(ctx, tx, r.account); err != nil {
		return nil, err
	}
	ids := make([]string, len(sources))
	for i, source := range sources {
		ids[i] = source.ID
	}
	known, err := tx.LoggerSourcesByID(ctx, r.account, ids)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(sources, func(source Source) bool {
		if _, exists := known[source.ID]; exists {
			return false
		}
		left.sources--
		return left.sources < 0
	}), nil
}

func (s seen) source(account, id string, now time.Time) Source {
	return Source{ID: id, Account: account, Logger: s.Logger, Service: s.Service, Environment: s.Environment,
		Level: s.level, ResolvedLevel: s.resolved, FirstObserved: now, LastSeen: now, CreatedAt: now, UpdatedAt: now}
}
