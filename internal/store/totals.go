package store

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/logging"
)

// total names a stored sum over the rows of an account. Writes keep it up to date, so that checking a limit counts no rows.
type total string

const (
	storedFlags        total = "flags"
	largeFlagBytes     total = "large flag bytes"
	flagSources        total = "flag sources"
	storedLoggers      total = "loggers"
	managedLoggers     total = "managed loggers"
	logGroups          total = "log groups"
	largeOverrideBytes total = "large override bytes"
	loggerSources      total = "logger sources"
	storedConfigs      total = "configs"
	configBytes        total = "config bytes"
	storedServices     total = "services"
	contextTypes       total = "context types"
	storedContexts     total = "contexts"
	enabledJobs        total = "enabled jobs"
	storedJobs         total = "jobs"
	jobBytes           total = "job configuration bytes"
)

// counted is a table whose rows add to totals. An amount is SQL for the number that a row adds.
type counted struct {
	table   string
	amounts map[total]string
}

// Amounts.
const (
	liveAmount  = `CASE WHEN deleted_at IS NULL THEN 1 ELSE 0 END`
	everyRow    = `1`
	flagSize    = `octet_length(base) + coalesce(octet_length(choices), 0) + octet_length(environments)`
	requestSize = `coalesce((SELECT sum(bytes) FROM job_requests r WHERE r.job_uid = jobs.uid AND r.superseded_at IS NULL), 0)`
)

func countedFlags() counted {
	return counted{"flags", map[total]string{storedFlags: liveAmount, largeFlagBytes: above(flags.SmallBytes, flagSize)}}
}

func countedLoggers() counted {
	return counted{"loggers", map[total]string{
		storedLoggers:      `CASE WHEN` + isLogger + `THEN 1 ELSE 0 END`,
		managedLoggers:     `CASE WHEN managed = TRUE AND` + isLogger + `THEN 1 ELSE 0 END`,
		logGroups:          `CASE WHEN` + isGroup + `THEN 1 ELSE 0 END`,
		largeOverrideBytes: above(logging.SmallBytes, `octet_length(environments)`),
	}}
}

func countedConfigs() counted {
	return counted{"configs", map[total]string{storedConfigs: everyRow, configBytes: `bytes`}}
}

// above returns the amount of rows that count only if they are live and large.
func above(small int, size string) string {
	return `CASE WHEN deleted_at IS NULL AND ` + size + ` > ` + strconv.Itoa(small) + ` THEN ` + size + ` ELSE 0 END`
}

// allCounted returns every table that adds to totals.
func allCounted() []counted {
	return []counted{
		countedFlags(), countedLoggers(), countedConfigs(),
		{"flag_sources", map[total]string{flagSources: everyRow}},
		{"logger_sources", map[total]string{loggerSources: everyRow}},
		{"services", map[total]string{storedServices: everyRow}},
		{"context_types", map[total]string{contextTypes: everyRow}},
		{"contexts", map[total]string{storedContexts: everyRow}},
		{"jobs", map[total]string{storedJobs: liveAmount, jobBytes: requestSize,
			enabledJobs: `CASE WHEN enabled = TRUE AND deleted_at IS NULL THEN 1 ELSE 0 END`}},
	}
}

func (tx *ReadTx) total(ctx context.Context, account string, what total) (int, error) {
	return scalar(ctx, tx.conn, scanInt,
		`SELECT COALESCE(max(amount), 0) FROM account_totals WHERE account_id = $1 AND what = $2`, account, string(what))
}

// count adds to one of an account's totals.
func (tx *Tx) count(ctx context.Context, account string, what total, more int) error {
	return tx.countAll(ctx, account, map[total]int{what: more})
}

// countAll adds to an account's totals. Nothing else changes them.
func (tx *Tx) countAll(ctx context.Context, account string, more map[total]int) error {
	var rows [][]any
	for _, what := range slices.Sorted(maps.Keys(more)) { // in one order, so that transactions do not deadlock
		if more[what] != 0 {
			rows = append(rows, []any{account, string(what), more[what]})
		}
	}
	return inserts(ctx, tx, `INSERT INTO account_totals (account_id, what, amount) VALUES`,
		`ON CONFLICT (account_id, what) DO UPDATE SET amount = account_totals.amount + excluded.amount`, rows)
}

// counting runs a write of the rows with some keys, and adds the difference between their amounts before and after to
// the totals. The caller holds the account's lock.
func (tx *Tx) counting(ctx context.Context, of counted, account string, keys []string, write func() error) error {
	before, err := tx.amounts(ctx, of, account, keys)
	if err != nil {
		return err
	}
	if err := write(); err != nil {
		return err
	}
	more, err := tx.amounts(ctx, of, account, keys)
	if err != nil {
		return err
	}
	for what, amount := range before {
		more[what] -= amount
	}
	return tx.countAll(ctx, account, more)
}

// creates inserts rows of an account and adds more to its totals. Unlike counting it does not read the rows, which would
// take a tenth of a report's time.
func (tx *Tx) creates(ctx context.Context, account, insert, overwrite string, rows [][]any, more map[total]int) error {
	if err := inserts(ctx, tx, insert, overwrite, rows); err != nil {
		return err
	}
	return tx.countAll(ctx, account, more)
}

// amounts returns the amounts that the rows with some keys add to totals.
func (tx *ReadTx) amounts(ctx context.Context, of counted, account string, keys []string) (map[total]int, error) {
	names := slices.Sorted(maps.Keys(of.amounts))
	sums := make([]string, len(names))
	for i, what := range names {
		sums[i] = sumOf(of.amounts[what])
	}
	rows, texts := `(`+tx.dialect.byKeys(`*`, of.table, `1 = 1`)+`) AS named`, tx.dialect.texts(keys)
	if len(keys) == 1 { // a plain condition, which no planner can misjudge
		rows, texts = of.table+` WHERE account_id = $1 AND key = $2`, keys[0]
	}
	return scalar(ctx, tx.conn, func(r row) (map[total]int, error) {
		values, into := make([]int, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		err := r.Scan(into...)
		found := make(map[total]int, len(names))
		for i, what := range names {
			found[what] = values[i]
		}
		return found, err
	}, `SELECT `+strings.Join(sums, ", ")+` FROM `+rows, account, texts)
}

// sumOf returns SQL for the sum of an amount over rows.
func sumOf(amount string) string { return `CAST(coalesce(sum(` + amount + `), 0) AS bigint)` }

// insertsNew writes rows, and adds the number of new ones to a total. conflict names the columns on which rows conflict;
// suffix says how existing rows change. Without a suffix they stay as they are.
func (tx *Tx) insertsNew(ctx context.Context, account string, what total, prefix, conflict, suffix string, rows [][]any) error {
	made := 0
	for chunk := range chunks(rows) {
		added, err := tx.insertChunk(ctx, prefix, conflict+` DO NOTHING`, chunk)
		if err == nil && added < len(chunk) && suffix != "" {
			_, err = tx.insertChunk(ctx, prefix, conflict+` `+suffix, chunk)
		}
		if err != nil {
			return err
		}
		made += added
	}
	return tx.count(ctx, account, what, made)
}

// removes deletes rows of an account, and subtracts their number from a total.
func (tx *Tx) removes(ctx context.Context, account string, what total, statement string, args ...any) error {
	gone, err := tx.affect(ctx, statement, append([]any{account}, args...)...)
	if err != nil {
		return err
	}
	return tx.count(ctx, account, what, -gone)
}

// Correction is a total that differed from the sum of its rows.
type Correction struct {
	Account, What string
	Was, Is       int
}

// recounted is how many accounts one statement compares. With one account in each, a server with 100,000 accounts would run more
// than a million statements an hour; many large accounts in one would take longer than a read may.
const recounted = 50

// CorrectTotals compares every total with its rows, and returns the totals that it corrected. A total is only wrong if a
// node of an older version wrote without counting. The first comparison takes no lock.
func (db *DB) CorrectTotals(ctx context.Context) (corrected []Correction, err error) {
	heads, err := db.Heads(ctx)
	if err != nil {
		return nil, err
	}
	for group := range slices.Chunk(slices.Sorted(maps.Keys(heads)), recounted) {
		wrong, err := fetch(ctx, db, forObservations, func(ctx context.Context, tx *ReadTx) ([]Correction, error) {
			return tx.wrongTotals(ctx, group[0], group[len(group)-1])
		})
		if err != nil {
			return corrected, err
		}
		for _, account := range accountsOf(wrong) {
			made, err := db.correctTotals(ctx, account)
			if err != nil {
				return corrected, err
			}
			corrected = append(corrected, made...)
		}
	}
	return corrected, nil
}

// accountsOf returns the accounts of corrections, each once.
func accountsOf(wrong []Correction) []string {
	accounts := make([]string, len(wrong))
	for i := range wrong {
		accounts[i] = wrong[i].Account
	}
	slices.Sort(accounts)
	return slices.Compact(accounts)
}

func (db *DB) correctTotals(ctx context.Context, account string) (wrong []Correction, err error) {
	err = db.write(ctx, writeOptions{priority: forObservations, account: account}, func(ctx context.Context, tx *Tx) error {
		if wrong, err = tx.wrongTotals(ctx, account, account); err != nil {
			return err
		}
		more := map[total]int{}
		for _, each := range wrong {
			more[total(each.What)] = each.Is - each.Was
		}
		return tx.countAll(ctx, account, more)
	})
	return wrong, err
}

// wrongTotals returns the totals that differ from the sum of their rows, of the accounts from the first to the last id. One
// statement reads both, because enabled jobs and their total also change without the account's lock.
func (tx *ReadTx) wrongTotals(ctx context.Context, first, last string) (wrong []Correction, err error) {
	for _, table := range allCounted() {
		for _, what := range slices.Sorted(maps.Keys(table.amounts)) {
			found, err := all(ctx, tx.conn, func(r row) (Correction, error) {
				each := Correction{What: string(what)}
				err := r.Scan(&each.Account, &each.Is, &each.Was)
				return each, err
			}, `SELECT id, counted, stored FROM (SELECT accounts.id, (SELECT `+sumOf(table.amounts[what])+` FROM `+table.table+` WHERE account_id = accounts.id) AS counted,
				(SELECT coalesce(max(amount), 0) FROM account_totals WHERE account_id = accounts.id AND what = $3) AS stored
				FROM accounts WHERE accounts.id >= $1 AND accounts.id <= $2) AS compared WHERE counted <> stored`, first, last, string(what))
			if err != nil {
				return nil, err
			}
			wrong = append(wrong, found...)
		}
	}
	return wrong, nil
}
