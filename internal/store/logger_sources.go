package store

import (
	"context"
	"slices"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/page"
)

const loggerSourceColumns = `id, account_id, logger, service, environment, level, resolved_level, spelling, first_observed, last_seen, created_at, updated_at`

func scanLoggerSource(r row) (s logging.Source, err error) {
	err = r.Scan(&s.ID, &s.Account, &s.Logger, &s.Service, &s.Environment, asLevel(&s.Level), asLevel(&s.ResolvedLevel),
		&s.Spelling, asTime(&s.FirstObserved), asTime(&s.LastSeen), asTime(&s.CreatedAt), asTime(&s.UpdatedAt))
	return s, err
}

// LoggerSources lists where the loggers of an account are seen.
func (tx *ReadTx) LoggerSources(ctx context.Context, account string, filter logging.SourceFilter, request page.Request) (page.List[logging.Source], error) {
	found := list{columns: loggerSourceColumns, table: "logger_sources", byDefault: "last_seen DESC", tie: "id", sorts: sourceSorts()}.of(account)
	found.equals("logger", filter.Logger)
	found.equals("service", filter.Service)
	found.equals("environment", filter.Environment)
	return pageOf(ctx, tx, found, request, scanLoggerSource)
}

// NewestSources returns the last seen sources of each named logger, up to limit. It
// reads no other rows, because an index has this order.
func (tx *ReadTx) NewestSources(ctx context.Context, account string, loggers []string, limit int) ([]logging.Source, error) {
	query := tx.dialect.firstOf(loggerSourceColumns, `logger_sources`, `SELECT s.id FROM logger_sources AS s
		WHERE s.account_id = $1 AND s.logger = listed.value ORDER BY s.last_seen DESC, s.id LIMIT $3`)
	return all(ctx, tx.conn, scanLoggerSource, query, account, tx.dialect.texts(loggers), limit)
}

// LevelsSeen returns up to limit distinct pairs of environment and level of each
// named logger. One index has all columns that it reads.
func (tx *ReadTx) LevelsSeen(ctx context.Context, account string, loggers []string, limit int) ([]logging.LevelSeen, error) {
	return all(ctx, tx.conn, func(r row) (seen logging.LevelSeen, err error) {
		err = r.Scan(&seen.Logger, &seen.Environment, asLevel(&seen.Level))
		return seen, err
	}, `SELECT logger, environment, resolved_level FROM (
			SELECT logger, environment, resolved_level, row_number() OVER (PARTITION BY logger ORDER BY environment, resolved_level) AS place
			FROM (SELECT DISTINCT logger, environment, resolved_level FROM logger_sources WHERE account_id = $1 AND logger `+tx.dialect.among+`) AS levels
		) AS placed WHERE place <= $3`, account, tx.dialect.texts(loggers), limit)
}

// ofAccount is written so that SQLite uses no index for it: SQLite does not know
// how many sources an account has, and ids find the rows at once.
const ofAccount = ` account_id || '' = $1 `

// KnownLoggerSources returns the stored sources among the reported ones, with their
// stored levels. Other fields are as reported: reports are compared by levels alone.
func (tx *ReadTx) KnownLoggerSources(ctx context.Context, account string, reported []logging.Source) (map[observations.SourceKey]logging.Source, error) {
	ids, places := make([]string, len(reported)), make(map[string]int, len(reported))
	for i, source := range reported {
		ids[i], places[source.ID] = source.ID, i
	}
	known := make(map[observations.SourceKey]logging.Source, len(reported))
	note := func(r row) (id string, err error) {
		var level, resolved loglevel.Level
		err = r.Scan(&id, asLevel(&level), asLevel(&resolved))
		stored := reported[places[id]]
		stored.Level, stored.ResolvedLevel = level, resolved
		known[stored.SourceKey()] = stored
		return id, err
	}
	_, err := among(ctx, tx, note, `SELECT id, level, resolved_level FROM logger_sources WHERE`+ofAccount+`AND id `, account, ids)
	return known, err
}

// CountLoggerSources counts the sources of an account.
func (tx *ReadTx) CountLoggerSources(ctx context.Context, account string) (int, error) {
	return tx.total(ctx, account, loggerSources)
}

// SaveLoggerSources inserts or updates sources of one account. Existing sources
// keep the time they were first observed.
func (tx *Tx) SaveLoggerSources(ctx context.Context, sources []logging.Source) error {
	if len(sources) == 0 {
		return nil
	}
	if slices.ContainsFunc(sources, func(s logging.Source) bool { return s.Spelling != "" }) {
		if err := tx.moveLevels(ctx, sources[0].Account); err != nil {
			return err
		}
	}
	rows := make([][]any, len(sources))
	for i, s := range sources {
		rows[i] = []any{s.ID, s.Account, s.Logger, s.Service, s.Environment, levelOrNull(s.Level), s.ResolvedLevel.String(), s.Spelling,
			micros(s.FirstObserved), micros(s.LastSeen), micros(s.CreatedAt), micros(s.UpdatedAt)}
	}
	return tx.insertsNew(ctx, sources[0].Account, loggerSources, `INSERT INTO logger_sources (`+loggerSourceColumns+`) VALUES`,
		`ON CONFLICT (id)`, `DO UPDATE SET level = excluded.level, resolved_level = excluded.resolved_level, spelling = excluded.spelling,
			last_seen = excluded.last_seen, updated_at = excluded.updated_at`, rows)
}
