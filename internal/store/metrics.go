package store

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/observations"
)

// metricTable returns the table of a resolution and its column of instants.
func metricTable(by observations.Resolution) (table, at string) {
	if by == observations.ByHour {
		return "metric_hours", "hour"
	}
	return "metric_minutes", "minute"
}

// AddMetrics adds measurements to the minutes or hours they belong to.
func (tx *Tx) AddMetrics(ctx context.Context, account string, by observations.Resolution, sums []observations.MetricSum) error {
	table, at := metricTable(by)
	rows := make([][]any, 0, len(sums))
	for _, m := range sums {
		rows = append(rows, []any{account, micros(m.At), m.Name, m.Unit, m.Dimensions, m.Samples, m.Sum, m.Minimum, m.Maximum})
	}
	return inserts(ctx, tx, `INSERT INTO `+table+` AS stored (account_id, `+at+`, name, unit, dimensions, samples, sum, minimum, maximum) VALUES`,
		`ON CONFLICT (account_id, `+at+`, name, unit, dimensions) DO UPDATE SET
			samples = stored.samples + excluded.samples,
			sum = stored.sum + excluded.sum,
			minimum = CASE WHEN excluded.minimum < stored.minimum THEN excluded.minimum ELSE stored.minimum END,
			maximum = CASE WHEN excluded.maximum > stored.maximum THEN excluded.maximum ELSE stored.maximum END`, rows)
}

// MetricSums calls each with the reported metrics of an account, oldest first, until each returns an error. It does not
// collect them: there may be very many.
func (tx *ReadTx) MetricSums(ctx context.Context, account string, by observations.Resolution, filter observations.MetricFilter, each func(observations.MetricSum) error) error {
	table, at := metricTable(by)
	found := list{columns: at + `, name, unit, dimensions, samples, sum, minimum, maximum`, table: table}.of(account)
	found.equals("name", filter.Name)
	found.between(at, filter.From, filter.To)
	_, err := all(ctx, tx.conn, func(r row) (struct{}, error) {
		var m observations.MetricSum
		if err := r.Scan(asTime(&m.At), &m.Name, &m.Unit, &m.Dimensions, &m.Samples, &m.Sum, &m.Minimum, &m.Maximum); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, each(m)
	}, `SELECT `+found.columns+found.from()+` ORDER BY `+at+`, name, unit, dimensions`, found.args...)
	return err
}

// CountMetrics counts the sums of one minute or hour.
func (tx *ReadTx) CountMetrics(ctx context.Context, account string, by observations.Resolution, instant time.Time) (int, error) {
	table, at := metricTable(by)
	return scalar(ctx, tx.conn, scanInt, `SELECT count(*) FROM `+table+` WHERE account_id = $1 AND `+at+` = $2`, account, micros(instant))
}
