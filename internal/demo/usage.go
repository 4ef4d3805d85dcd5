package demo

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/jsonlogic"
)

// usage returns what the services report every day about their evaluations: a sum of each day, of each hour in the last week,
// and of each minute in the last hour.
func (h *history) usage() (events []event) {
	known, asked := versions(), crowd()
	for days := int(founded/day) - 1; days > 0; days-- {
		until := max(age(days-1)*age(day), age(time.Minute))
		events = append(events, event{until, func(ctx context.Context) error {
			var points []any
			for _, each := range steps(age(days)*age(day), until) {
				points = append(points, h.evaluations(known, asked, each)...)
			}
			if len(points) == 0 {
				return nil // no flag was evaluated yet
			}
			_, err := h.keys["services"].request(ctx, http.MethodPost, "metrics/bulk", map[string]any{"data": points})
			return err
		}})
	}
	return events
}

// step is a part of the history whose evaluations are reported as one sum.
type step struct {
	from   age
	length time.Duration
}

// steps divides a day of the history, which ends until.
func steps(from, until age) (found []step) {
	length := time.Hour
	if from > age(7*day) {
		length = day
	}
	for ; from > until; from -= age(length) {
		if from <= age(time.Hour) {
			length = time.Minute
		}
		found = append(found, step{from, length})
	}
	return found
}

// version is a flag as it was from an age on.
type version struct {
	from age
	flag *flageval.Flag
}

// versions returns the versions of every flag, oldest first.
func versions() map[string][]version {
	known := map[string][]version{}
	for _, each := range read[[]struct {
		ID       string  `json:"id"`
		Versions []write `json:"versions"`
	}]("flags.json") {
		for _, written := range each.Versions {
			if written.Action != "" {
				continue
			}
			definition := flageval.Definition{Key: each.ID}
			if err := json.Unmarshal(written.Attributes, &definition); err != nil {
				panic(err) // the file is embedded, so this is a programming error
			}
			known[each.ID] = append(known[each.ID], version{written.At, flageval.Compile(definition)})
		}
	}
	return known
}

// crowd returns the contexts of a hundred people who are like the customers.
func crowd() (contexts []jsonlogic.Value) {
	for i := range 100 {
		like := customers()[i%len(customers())]
		context, err := jsonlogic.ValueOf(map[string]any{"user": map[string]any{"key": like.key + strconv.Itoa(i), "plan": like.plan, "country": like.country}})
		if err != nil {
			panic(err) // texts can always be converted
		}
		contexts = append(contexts, context)
	}
	return contexts
}

// evaluations returns the sums of a step: for each declared flag, how often each value was served.
func (h *history) evaluations(known map[string][]version, asked []jsonlogic.Value, of step) (points []any) {
	for _, each := range declarations() {
		flag := at(known[each.ID], of.from)
		if flag == nil || of.from > each.Since || of.from < each.Evaluated || !each.Always && of.length < time.Hour {
			continue
		}
		environment := environmentOf(each.Service)
		count := h.traffic(each, of) / float64(len(asked))
		served := map[string]float64{}
		for _, context := range asked {
			value := strings.Trim(string(flag.Evaluate(environment, context).Raw()), `"`)
			served[value] += count * (0.5 + h.chance.Float64())
		}
		for _, value := range slices.Sorted(maps.Keys(served)) {
			points = append(points, map[string]any{"type": "metric", "attributes": map[string]any{
				"name": "flags.evaluations", "unit": "evaluations", "value": math.Ceil(served[value]),
				"period_seconds": int(of.length / time.Second), "recorded_at": h.now.Add(-time.Duration(of.from)),
				"dimensions": map[string]string{"flag": each.ID, "value": value, "environment": environment}}})
		}
	}
	return points
}

// at returns a flag as it was, or nil if it did not exist.
func at(known []version, when age) (flag *flageval.Flag) {
	for _, each := range known {
		if each.from >= when {
			flag = each.flag
		}
	}
	return flag
}

// environmentOf returns the environment whose program reports evaluations.
func environmentOf(service string) string {
	for _, each := range programs() {
		if each.name == service {
			return each.environment
		}
	}
	return "production"
}

// traffic returns how often a service evaluates a flag in a step: more with every week, more by day than by night, and of some
// flags more than of others.
func (h *history) traffic(d declaration, of step) float64 {
	perMinute := 2.0
	if d.Always {
		perMinute = 60 / pace.Seconds()
	}
	name := fnv.New32a()
	_, _ = name.Write([]byte(d.ID))
	popularity := 0.5 + float64(name.Sum32()%100)/100
	growth := 1 - 0.5*time.Duration(of.from).Hours()/founded.Hours()
	daily := 1.0
	if of.length < day {
		daily += 0.4 * math.Sin(2*math.Pi*time.Duration(of.from).Hours()/24)
	}
	return perMinute * of.length.Minutes() * popularity * growth * daily
}
