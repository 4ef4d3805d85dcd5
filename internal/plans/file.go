package plans

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Parse reads a table from JSON: {"free": {"jobs.active_jobs": 10, …}, …}.
// Every plan must have every limit, so that a forgotten limit is found at the start.
func Parse(file io.Reader) (Table, error) {
	decoder := json.NewDecoder(file)
	decoder.DisallowUnknownFields()
	var table Table
	if err := decoder.Decode(&table); err != nil {
		return nil, fmt.Errorf("the plans file is not a JSON object of plans: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("the plans file has something after its JSON object")
	}
	if _, ok := table[Free]; !ok {
		return nil, fmt.Errorf("the plans file must have a plan named %q", Free)
	}
	for _, name := range table.Names() {
		if err := checkPlan(name, table[name]); err != nil {
			return nil, err
		}
	}
	return table, nil
}

func checkPlan(name string, limits map[Limit]int) error {
	if name == "" || strings.ContainsAny(name, ",= \t\n") {
		return fmt.Errorf("the plan name %q must not be empty or contain commas, equals signs or spaces", name)
	}
	known := BuiltIn()[Free]
	for _, limit := range slices.Sorted(maps.Keys(limits)) {
		if _, ok := known[limit]; !ok {
			return fmt.Errorf("plan %q: there is no limit %q", name, limit)
		}
	}
	for _, limit := range slices.Sorted(maps.Keys(known)) {
		if value, ok := limits[limit]; !ok {
			return fmt.Errorf("plan %q: the limit %q is missing", name, limit)
		} else if value < Unlimited {
			return fmt.Errorf("plan %q: %s is %d; it must be -1 (unlimited), 0 or more", name, limit, value)
		}
	}
	return nil
}
