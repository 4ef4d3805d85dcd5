package flags

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/overrides"
)

// quoted returns a JSON string of a given size in bytes.
func quoted(bytes int) string { return `"` + strings.Repeat("x", bytes-2) + `"` }

// numbered returns the JSON numbers below a count.
func numbered(count int) []string {
	numbers := make([]string, count)
	for i := range numbers {
		numbers[i] = strconv.Itoa(i)
	}
	return numbers
}

// inProduction configures production with rules that each serve a value.
func inProduction(logic string, values ...string) map[string]Environment {
	production := Environment{Enabled: true}
	for _, value := range values {
		production.Rules = append(production.Rules, Rule{Logic: json.RawMessage(logic), Value: json.RawMessage(value)})
	}
	return map[string]Environment{"production": production}
}

func TestValidate_Sizes(t *testing.T) {
	t.Parallel()
	environments := func(count int) map[string]Environment {
		many := map[string]Environment{}
		for _, key := range numbered(count) {
			many[key] = Environment{Enabled: true}
		}
		return many
	}
	large := func(count int) []string {
		values := make([]string, count)
		for i := range values {
			values[i] = quoted(maxValueBytes - i)
		}
		return values
	}
	of := func(kind, base string, values []string, environments map[string]Environment) Draft {
		draft := Draft{Type: text(kind), Default: raw(base), Environments: environments}
		if values != nil {
			draft.Values = choices(values...)
			for i := range draft.Values.Or(nil) {
				draft.Values.Or(nil)[i].Name = ""
			}
		}
		return draft
	}
	tooLarge := quoted(maxValueBytes + 1)
	for _, c := range []struct {
		name  string
		draft Draft
		want  []string
	}{
		{"as many values as there may be", of("NUMERIC", "0", numbered(1000), nil), nil},
		{"more values", of("NUMERIC", "0", numbered(1001), nil), []string{"values"}},
		{"as many environments as there may be", of("NUMERIC", "0", nil, environments(overrides.MaxEntries)), nil},
		{"more environments", of("NUMERIC", "0", nil, environments(overrides.MaxEntries+1)), []string{"environments"}},
		{"both", of("NUMERIC", "0", numbered(1001), environments(overrides.MaxEntries+1)), []string{"values", "environments"}},
		{"as large a default as there may be", of("STRING", quoted(64<<10), nil, nil), nil},
		{"larger values", of("STRING", tooLarge, []string{tooLarge}, inProduction("{}", tooLarge)),
			[]string{"values/0", "default", "environments/production/rules/0/value"}},
		{"as large values as there may be together", of("STRING", quoted(64<<10), large(14), nil), nil},
		{"larger values together", of("STRING", quoted(64<<10), large(17), nil), []string{"values"}},
		{"larger environments together", of("STRING", quoted(64<<10), nil, inProduction("{}", large(17)...)), []string{"environments"}},
		{"more rules than fit", of("NUMERIC", "0", nil, inProduction("{}", numbered(30_000)...)), []string{"environments"}},
		{"a default that is too large for everything", of("STRING", quoted(2<<20), nil, nil), []string{"default"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			expectProblems(t, c.draft, c.want)
		})
	}
}

// TestValidate_ManyValuesAndRulesAddUp: they do not multiply.
func TestValidate_ManyValuesAndRulesAddUp(t *testing.T) {
	t.Parallel()
	values := numbered(1000)
	var served []string
	for range 15 {
		served = append(served, values...)
	}
	quickest := time.Hour
	for i := 0; i < 5 && quickest > 15*time.Second; i++ { // the machine may be busy, but not every time
		quickest = min(quickest, checkMany(t, values, served))
	}
	if quickest > 15*time.Second { // multiplied it would be a minute on a quiet machine
		t.Errorf("it took %s", quickest)
	}
}

// checkMany checks a flag with many values and rules, and returns how long it took.
func checkMany(t *testing.T, values, served []string) time.Duration {
	t.Helper()
	began := time.Now()
	draft := Draft{Type: text("NUMERIC"), Default: raw("999"), Values: choices(values...), Environments: inProduction("{}", served...)}
	flag := draft.validate("flag")
	if err := draft.Problems.Err(); err != nil {
		t.Fatal(err)
	}
	if name := flag.variants()["999"]; string(name) != `"999"` {
		t.Errorf("the variant is %s", name)
	}
	return time.Since(began)
}

func TestCheckFrozen(t *testing.T) {
	t.Parallel()
	wanted := Flag{Key: "flag", Type: flageval.Numeric, Environments: inProduction("{}", "1")}
	after := wanted
	after.Environments = map[string]Environment{"production": wanted.Environments["production"], "old": {Default: json.RawMessage(`"x"`)}}
	frozen := func(after Flag) []*fault.Error {
		var problems fault.Problems
		checkFrozen(after, wanted, &problems, referenceSet{})
		return fault.All(problems.Err())
	}
	if refusals := frozen(after); len(refusals) != 1 || refusals[0].Source != fault.Attribute("environments/old/default") {
		t.Errorf("got %v", refusals)
	}
	after.Environments["old"] = inProduction("{}", numbered(30_000)...)["production"]
	if refusals := frozen(after); len(refusals) != 1 || refusals[0].Source != fault.Attribute("environments") {
		t.Errorf("got %v", refusals)
	}
	if refusals := frozen(wanted); len(refusals) > 0 {
		t.Errorf("got %v", refusals)
	}
}

func TestDeclaration_DefaultSize(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		quoted(SmallBytes): "", quoted(SmallBytes + 1): "default must have at most 8192 bytes as JSON",
		deep(1000): "", deep(1001): "default must be JSON of at most 1000 levels, as the flag is JSON",
	} {
		t.Run(fmt.Sprintf("%d bytes from %c", len(base), base[0]), func(t *testing.T) {
			declaration := Declaration{Key: "f", Type: "JSON", Default: json.RawMessage(base), Service: "s", Environment: "e"}
			if _, got := declaration.source(accounts.Caller{}); got != want {
				t.Errorf("%d bytes: got %q, want %q", len(base), got, want)
			}
		})
	}
}
