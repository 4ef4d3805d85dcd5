package observations

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/transaction"
)

// KindSeries is the JSON:API type of a metric's sums over time.
const KindSeries = "metric_series"

const (
	// maxPoints is how many points an answer may have.
	maxPoints = 10_000
	// maxSumsRead bounds the work of one query.
	maxSumsRead = 1_000_000
	maxBy       = 8
	day         = 24 * time.Hour
)

// SeriesQuery selects sums of a metric.
type SeriesQuery struct {
	Name string
	// From and To are widened to whole steps. To defaults to now, From to a day
	// before To.
	From, To time.Time
	Step     time.Duration
	// By names the dimensions by which the sums are grouped.
	By []string
	// Where maps dimensions to the values, as text, of which they must have one.
	Where map[string][]string
}

// Series has the sums of a metric over time.
type Series struct {
	Name   string    `json:"-"`
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
	Step   int       `json:"step"` // seconds
	By     []string  `json:"by"`
	Units  []string  `json:"units"`
	Points []Point   `json:"points"`
}

// Point is the sum of the measurements in one step.
type Point struct {
	At         time.Time       `json:"at"`
	Dimensions json.RawMessage `json:"dimensions"`
	Sum        float64         `json:"sum"`
	Count      int             `json:"count"`
}

// Metrics returns the sums of a metric. Every role may read them.
func (s *Service) Metrics(ctx context.Context, caller accounts.Caller, query SeriesQuery) (found Series, err error) {
	err = s.Series.Take(ctx, maxSumsRead, func() error {
		found, err = s.series(ctx, caller, query)
		return err
	})
	return found, err
}

func (s *Service) series(ctx context.Context, caller accounts.Caller, query SeriesQuery) (Series, error) {
	return transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (Series, error) {
		if err := query.settle(tx.Now()); err != nil {
			return Series{}, err
		}
		read := &seriesReader{query: query, groups: map[string]group{}, points: map[pointKey]*Point{}, units: map[string]bool{}}
		filter := MetricFilter{Name: query.Name, From: query.From, To: query.To}
		if err := tx.MetricSums(ctx, caller.Account, query.resolution(), filter, read.add); err != nil {
			return Series{}, err
		}
		return read.series(), nil
	})
}

// settle checks the query, fills in defaults, and widens its time range to whole steps.
func (q *SeriesQuery) settle(now time.Time) error {
	var problems fault.Problems
	q.checkNames(&problems)
	if q.Step != time.Minute && q.Step != time.Hour && q.Step != day {
		refuse(&problems, "step", "must be 60, 3600 or 86400 seconds")
		return problems.Err()
	}
	q.settleTime(now)
	switch {
	case !q.From.Before(q.To):
		refuse(&problems, "from", "must be before to")
	case q.To.Sub(q.From)/q.Step > maxPoints:
		refuse(&problems, "from", "must be later, or step longer: %d steps are the most", maxPoints)
	case q.Step == time.Minute && q.From.Before(now.Add(-ByMinute.Kept()-time.Hour)):
		refuse(&problems, "from", "must be within a week for a step of 60: ask for what is older with step=3600")
	}
	return problems.Err()
}

func (q *SeriesQuery) checkNames(problems *fault.Problems) {
	if q.Name == "" {
		refuse(problems, "name", "is required; it is the name of a metric, such as flags.evaluations")
	} else if rule := brokenRule(q.Name, maxName); rule != "" {
		refuse(problems, "name", "%s", rule)
	}
	slices.Sort(q.By)
	if q.By = slices.Compact(q.By); len(q.By) > maxBy || slices.Contains(q.By, "") {
		refuse(problems, "by", "must be up to %d names of dimensions, separated by commas, such as flag,value", maxBy)
	}
}

func (q *SeriesQuery) settleTime(now time.Time) {
	if q.To.IsZero() {
		q.To = now
	}
	if q.From.IsZero() {
		q.From = q.To.Add(-day)
	}
	q.From = q.From.UTC().Truncate(q.Step)
	if end := q.To.UTC().Truncate(q.Step); end.Before(q.To) {
		q.To = end.Add(q.Step)
	}
}

func refuse(problems *fault.Problems, parameter, format string, args ...any) {
	problems.Add(fault.New(fault.InvalidParameter, parameter+" "+format+".", args...).At(fault.Parameter(parameter)))
}

// resolution returns the resolution of the sums to read for the query's steps.
func (q *SeriesQuery) resolution() Resolution {
	if q.Step < ByHour.Length() {
		return ByMinute
	}
	return ByHour
}

// seriesReader adds up sums to points.
type seriesReader struct {
	query  SeriesQuery
	read   int
	groups map[string]group // by the dimensions of sums
	points map[pointKey]*Point
	units  map[string]bool
}

// group is the group to which a set of dimensions belongs in a query.
type group struct {
	wanted     bool
	dimensions string // the dimensions of SeriesQuery.By, as JSON
}

type pointKey struct {
	at         int64
	dimensions string
}

func (r *seriesReader) add(sum MetricSum) error {
	if r.read++; r.read > maxSumsRead {
		return fault.New(fault.InvalidParameter, "from must be later: %d stored sums are the most that are read for one answer.", maxSumsRead).At(fault.Parameter("from"))
	}
	group, err := r.group(sum.Dimensions)
	if err != nil || !group.wanted {
		return err
	}
	at := sum.At.Truncate(r.query.Step)
	key := pointKey{at.Unix(), group.dimensions}
	point := r.points[key]
	if point == nil {
		if len(r.points) == maxPoints {
			return fault.New(fault.InvalidParameter, "from must be later, step longer or by shorter: the answer has more than %d points.", maxPoints).At(fault.Parameter("from"))
		}
		point = &Point{At: at, Dimensions: json.RawMessage(group.dimensions)}
		r.points[key] = point
	}
	r.units[sum.Unit] = true
	point.Sum += sum.Sum
	point.Count += sum.Samples
	return nil
}

func (r *seriesReader) group(dimensions string) (group, error) {
	if known, ok := r.groups[dimensions]; ok {
		return known, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(dimensions), &members); err != nil {
		return group{}, err
	}
	made := group{wanted: r.query.wants(members)}
	maps.DeleteFunc(members, func(name string, _ json.RawMessage) bool { return !slices.Contains(r.query.By, name) })
	text, err := json.Marshal(members)
	made.dimensions = string(text)
	r.groups[dimensions] = made
	return made, err
}

// wants reports whether the dimensions have values of Where.
func (q *SeriesQuery) wants(dimensions map[string]json.RawMessage) bool {
	for name, values := range q.Where {
		stored, has := dimensions[name]
		if !has || !slices.Contains(values, textOf(stored)) {
			return false
		}
	}
	return true
}

// textOf returns a string without quotes, and anything else as JSON.
func textOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) != nil || bytes.Equal(value, []byte("null")) {
		return string(value)
	}
	return text
}

// series returns the points, sorted by time.
func (r *seriesReader) series() Series {
	points := make([]Point, 0, len(r.points))
	for _, point := range r.points {
		points = append(points, *point)
	}
	slices.SortFunc(points, func(a, b Point) int {
		return cmp.Or(a.At.Compare(b.At), bytes.Compare(a.Dimensions, b.Dimensions))
	})
	return Series{Name: r.query.Name, From: r.query.From, To: r.query.To, Step: int(r.query.Step / time.Second),
		By: append([]string{}, r.query.By...), Units: append([]string{}, slices.Sorted(maps.Keys(r.units))...), Points: points}
}
