package configs

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
)

// These schemas are within the limits, but checking them completely would take too long.
func TestSchemas_TooMuchWork(t *testing.T) {
	t.Parallel()
	wide, text := "["+strings.Repeat("1,", 100_000)+"1]", `"`+strings.Repeat("é", 125<<10)+`"`
	lists := "[" + manyPatterns(20, "["+strings.Repeat("0.5,", 3000)+"%d]") + "]"
	for name, each := range map[string]struct{ schema, value string }{
		"many constants for many values":      {`{"items":{"enum":[` + manyPatterns(1900, "%d") + `]}}`, wide},
		"many parts for many values":          {repeated(300, `{"items":{"type":"null"}}`), wide},
		"large pattern on a long text":        {`{"pattern":"(x+x+){200}y"}`, `"` + strings.Repeat("x", 200_000) + `"`},
		"names against patterns":              {`{"propertyNames":` + repeated(10, `{"pattern":"(a|b){500}c"}`) + `}`, manyMembers(10_000, 1)},
		"lengths of a long text":              {cubed(12, `{"minLength":1}`), text},
		"nothing about a long text":           {cubed(12, `{"title":"x"}`), text},
		"small pattern on a long text":        {cubed(10, `{"pattern":"^é"}`), text},
		"few lists that must differ":          {repeated(30, `{"uniqueItems":true}`), lists},
		"many numbers that must differ":       {repeated(100, `{"uniqueItems":true}`), wide},
		"many multiples":                      {repeated(30, `{"items":{"multipleOf":0.0123456789012345678901234567890123457}}`), wide},
		"many limits":                         {repeated(100, `{"items":{"minimum":0.5}}`), wide},
		"members that others need":            {cubed(12, `{"dependentRequired":{"ab1":["ab2"],"ab3":["ab4"],"ab5":["ab6"]}}`), manyMembers(10_000, 1)},
		"long way to many values":             {referenceChain(MaxSchemaDepth - 3), wide},
		"texts of many members":               {`{"additionalProperties":` + repeated(500, `{"maxLength":100}`) + `}`, manyMembers(2000, strings.Repeat("x", 100))},
		"alternatives for many members":       {`{"additionalProperties":{"anyOf":[` + strings.Repeat(`{"type":"null"},`, 500) + `true]}}`, manyMembers(10_000, 1)},
		"elements that an array must contain": {repeated(100, `{"contains":{"type":"null"}}`), wide},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			found := checked(t, each.schema, each.value)
			took := time.Since(began)
			t.Logf("it took %s", took)
			if took > time.Minute { // a quiet machine takes some milliseconds
				t.Errorf("it took %s", took)
			}
			if len(found) != 1 || found[0] != "" {
				t.Errorf("got %v, want one refusal of the whole value", found)
			}
		})
	}
}

// A step takes at most about a microsecond for every combination of keywords, so maxSteps
// bounds the time of a check. If some work were not counted, a step would take hundreds of
// microseconds.
func TestWeight_StepsBoundTime(t *testing.T) { //nolint:paralleltest // it measures
	const longest = 50 * time.Microsecond // allows for the race detector and a busy machine
	wide, members := "["+strings.Repeat("1,", 1000)+"1]", manyMembers(1000, 1)
	text := `"` + strings.Repeat("é", 125<<10) + `"`
	lists := "[" + manyPatterns(20, "["+strings.Repeat("0.5,", 100)+"%d]") + "]"
	deep := strings.Repeat("[", MaxSchemaDepth-3) + wide + strings.Repeat("]", MaxSchemaDepth-3)
	for name, each := range map[string]struct{ schema, value string }{
		"types":                {repeated(10, `{"items":{"type":"null"}}`), wide},
		"types far inside":     {strings.Repeat(`{"items":`, MaxSchemaDepth-3) + repeated(10, `{"items":{"type":"null"}}`) + strings.Repeat("}", MaxSchemaDepth-3), deep},
		"integers":             {repeated(10, `{"items":{"type":"integer"}}`), wide},
		"limits":               {repeated(10, `{"items":{"minimum":2}}`), wide},
		"multiples":            {repeated(10, `{"items":{"multipleOf":0.0123456789012345678901234567890123457}}`), wide},
		"constants":            {`{"items":{"enum":[` + manyPatterns(20, "1%d") + `]}}`, wide},
		"large constants":      {repeated(10, `{"const":[`+strings.Repeat("1,", 100)+`2]}`), "[" + strings.Repeat("1,", 100) + "1]"},
		"text constants":       {`{"items":{"enum":[` + manyPatterns(200, `"x%d"`) + `]}}`, strings.ReplaceAll(wide, "1", `"x"`)},
		"alternatives":         {`{"items":{"anyOf":[` + strings.Repeat(`{"anyOf":[{"type":"null"},{"type":"null"}]},`, 5) + `false]}}`, wide},
		"exactly one":          {`{"items":{"oneOf":[` + strings.Repeat(`{"type":"null"},`, 10) + `true]}}`, wide},
		"conditions":           {repeated(5, `{"items":{"if":{"minimum":2},"else":{"not":{"type":"number"}}}}`), wide},
		"contains":             {repeated(10, `{"contains":{"type":"null"}}`), wide},
		"few unique lists":     {repeated(1, `{"uniqueItems":true}`), lists},
		"many unique numbers":  {repeated(10, `{"uniqueItems":true}`), "[" + manyPatterns(2000, "%d.5") + "]"},
		"lengths of texts":     {repeated(50, `{"minLength":1}`), text},
		"copies of texts":      {repeated(50, `{"title":"x"}`), text},
		"small pattern":        {repeated(5, `{"pattern":"^[é-ü]+$"}`), text},
		"large pattern":        {`{"pattern":"(x+x+){60}y"}`, `"` + strings.Repeat("x", 5000) + `"`},
		"alternating pattern":  {`{"pattern":"(a|b|ab){200}c"}`, `"` + strings.Repeat("ab", 1000) + `"`},
		"patterns of members":  {`{"patternProperties":{` + manyPatterns(20, `"a.*b%d$":false`) + `}}`, members},
		"names":                {`{"propertyNames":` + repeated(10, `{"maxLength":2}`) + `}`, members},
		"closed objects":       {repeated(10, `{"additionalProperties":false}`), members},
		"required members":     {`{"items":{"required":[` + manyPatterns(500, `"x%d"`) + `]}}`, "[" + strings.Repeat("{},", 500) + "{}]"},
		"dependent members":    {`{"items":{"dependentRequired":{"a":[` + manyPatterns(500, `"x%d"`) + `]}}}`, "[" + strings.Repeat(`{"a":1},`, 500) + "{}]"},
		"dependent schemas":    {repeated(10, `{"dependentSchemas":{"ab1":{"additionalProperties":{"type":"null"}}}}`), members},
		"long ways":            {referenceChain(MaxSchemaDepth - 3), wide},
		"thousands of parts":   {cubed(10, `{"minimum":2}`), `[1,1,1,1]`},
		"one of many members":  {`{"items":{"properties":{` + manyPatterns(300, `"x%d":{"type":"null"}`) + `}}}`, "[" + strings.Repeat(`{"x1":1,"x2":1},`, 1000) + "1]"},
		"one of many elements": {`{"items":{"prefixItems":[` + strings.Repeat(`{"type":"null"},`, 100) + `true]}}`, "[" + strings.Repeat("["+strings.Repeat("1,", 99)+"1],", 20) + "1]"},
	} {
		t.Run(name, func(t *testing.T) {
			known := compiled(t, each.schema).known[each.schema]
			value := decode(json.RawMessage(each.value))
			steps := known.weight.steps(measure(value))
			if steps > maxSteps {
				t.Errorf("%d steps are too many to be a case", steps)
			}
			perStep := time.Duration(math.MaxInt64)
			for attempt := 0; attempt < 3 && perStep > longest; attempt++ {
				began := processorTime(t)
				_ = known.compiled.Validate(value)
				perStep = (processorTime(t) - began) / time.Duration(steps)
			}
			t.Logf("%-22s %6d steps, %s each", name, steps, perStep)
			if perStep > longest {
				t.Errorf("a step takes %s", perStep)
			}
		})
	}
}

// manyMembers returns an object whose members all have the same value.
func manyMembers(count int, value any) string {
	return "{" + manyPatterns(count, fmt.Sprintf(`"ab%%d":%#v`, value)) + "}"
}

func TestSchemas_UsualSchemaOfLargeValue(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"array","uniqueItems":true,"items":{"type":"object","required":["host","port"],"properties":{
		"host":{"type":"string","pattern":"^[a-z0-9.-]+$","maxLength":253},"port":{"type":"integer","minimum":1,"maximum":65535},
		"mode":{"enum":["a","b","c"]},"tags":{"type":"array","items":{"type":"string"}}},"additionalProperties":false}}`
	servers := make([]string, 3000)
	for i := range servers {
		servers[i] = fmt.Sprintf(`{"host":"host-%d.example.com","port":%d,"mode":"b","tags":["x","y"]}`, i, i+1)
	}
	t.Logf("%d of %d steps", compiled(t, schema).known[schema].weight.steps(measure(decode(json.RawMessage("["+strings.Join(servers, ",")+"]")))), maxSteps)
	if found := checked(t, schema, "["+strings.Join(servers, ",")+"]"); len(found) > 0 {
		t.Errorf("got %v", found)
	}
}

func TestCheck_TooManyLookups(t *testing.T) {
	t.Parallel()
	var problems fault.Problems
	overrides := Overrides{"b": json.RawMessage("1"), "c": json.RawMessage("1")}
	config := Config{Key: "config", Environments: map[string]Overrides{"production": overrides}}
	check := newCheck(write{schemas: newSchemas()}, slices.Repeat(chain{&config}, maxSteps*lookupsPerStep), &problems)
	check.own()
	if !problems.Mentions("items") || len(fault.All(problems.Err())) != 1 {
		t.Errorf("got %v, want nothing but a refusal of the work", problems.Err())
	}
}

func TestConfig_OnlyCopies(t *testing.T) {
	t.Parallel()
	text := json.RawMessage(`{"a":1,"b":2}`)
	config := Config{
		Items:        map[string]Item{"a": {Value: text[5:6], Schema: text[5:6]}, "b": {Value: text[11:12]}},
		Environments: map[string]Overrides{"x": {"a": text[5:6]}, "y": {"b": text[11:12]}},
	}
	kept := config.only(map[string]bool{"a": true})
	if len(kept.Items) != 1 || len(kept.Environments) != 1 || len(config.Items) != 2 {
		t.Fatalf("got %v", kept)
	}
	for _, value := range []json.RawMessage{kept.Items["a"].Value, kept.Items["a"].Schema, kept.Environments["x"]["a"]} {
		if string(value) != "1" || &value[0] == &text[5] {
			t.Errorf("%s is part of what was read", value)
		}
	}
}
