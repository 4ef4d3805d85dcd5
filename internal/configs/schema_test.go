package configs

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/fault"
)

// checked compiles a schema and gives the pointers at which a value breaks it.
// As in a write, compiling and checking have a budget each.
func checked(t *testing.T, text, value string) []string {
	t.Helper()
	known := newSchemas()
	for _, wrong := range known.compile(json.RawMessage(text)).unusable {
		t.Fatalf("%.200s: %s %s", text, wrong.pointer, wrong.detail)
	}
	defer known.work.begin(t.Context(), time.Minute)()
	pointers := []string{}
	for _, found := range known.check([]json.RawMessage{json.RawMessage(text)}, json.RawMessage(value)) {
		if found.detail == "" {
			t.Errorf("%s breaks %s at %q and nobody says why", value, text, found.pointer)
		}
		pointers = append(pointers, found.pointer)
	}
	return pointers
}

func TestSchemasPointInsideOfValues(t *testing.T) {
	t.Parallel()
	const server = `{"type":"object","required":["host"],"properties":{"host":{"type":"string"},"port":{"type":"integer","maximum":65535}},"additionalProperties":false}`
	for name, each := range map[string]struct {
		schema, value string
		want          []string
	}{
		"a value that fits":                   {server, `{"host":"db","port":5432}`, []string{}},
		"a number of another spelling":        {server, `{"host":"db","port":5432.0}`, []string{}},
		"another type":                        {server, `{"host":"db","port":"x"}`, []string{"/port"}},
		"two places":                          {server, `{"host":1,"port":70000}`, []string{"/host", "/port"}},
		"a member that is missing":            {server, `{}`, []string{""}},
		"a member too many":                   {server, `{"host":"db","prot":1}`, []string{""}},
		"another kind of value":               {server, `[1]`, []string{""}},
		"inside of an array":                  {`{"items":{"properties":{"a":{"const":1}}}}`, `[{"a":1},{"a":2}]`, []string{"/1/a"}},
		"names that pointers escape":          {`{"properties":{"a/b~":{"type":"null"}}}`, `{"a/b~":1}`, []string{"/a~1b~0"}},
		"alternatives are named as one":       {`{"properties":{"a":{"anyOf":[{"type":"null"},{"type":"string"}]}}}`, `{"a":1}`, []string{"/a"}},
		"a reference into the schema":         {`{"$defs":{"p":{"minimum":1}},"properties":{"a":{"$ref":"#/$defs/p"}}}`, `{"a":0}`, []string{"/a"}},
		"a schema that refers to itself":      {`{"properties":{"next":{"$ref":"#"}},"required":["v"]}`, `{"v":1,"next":{"v":2,"next":{}}}`, []string{"/next/next"}},
		"parts that have ids":                 {`{"$id":"https://example.com/a","$defs":{"b":{"$id":"b","type":"string"}},"$ref":"b"}`, `1`, []string{""}},
		"a dynamic reference":                 {`{"$dynamicAnchor":"node","properties":{"next":{"$dynamicRef":"#node"}},"required":["v"]}`, `{"v":1,"next":{}}`, []string{"/next"}},
		"a pattern":                           {`{"pattern":"^[a-z]+$"}`, `"A"`, []string{""}},
		"formats are no assertions":           {`{"format":"date-time"}`, `"never"`, []string{}},
		"a schema that nothing fits":          {`false`, `1`, []string{""}},
		"a schema that everything fits":       {`true`, `1`, []string{}},
		"the draft by its name":               {`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"null"}`, `null`, []string{}},
		"a huge number is still a number":     {`{"type":"number","minimum":1}`, `1e999999999`, []string{}},
		"a tiny number is still a number":     {`{"type":"number","maximum":1}`, `1e-999999999`, []string{}},
		"more than a few places are not told": {`{"items":{"type":"null"}}`, "[" + strings.Repeat("1,", 99) + "1]", twenty()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(each.want, checked(t, each.schema, each.value)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func twenty() (pointers []string) {
	for i := range maxBreaches {
		pointers = append(pointers, fmt.Sprint("/", i))
	}
	slices.Sort(pointers)
	return pointers
}

func TestSchemasThatCannotBeUsedAreRefusedAtTheirPlace(t *testing.T) {
	t.Parallel()
	for name, each := range map[string]struct{ schema, pointer, says string }{
		"a type that is none":        {`{"properties":{"a":{"type":"text"}}}`, "/properties/a/type", "no valid schema"},
		"a keyword of another type":  {`{"minimum":"1"}`, "/minimum", "no valid schema"},
		"a pattern that is none":     {`{"properties":{"a":{"pattern":"("}}}`, "/properties/a/pattern", "no valid schema"},
		"a pattern that looks ahead": {`{"pattern":"a(?=b)"}`, "/pattern", "no valid schema"},
		"a pattern that is long":     {`{"pattern":"` + strings.Repeat("a", MaxPattern+1) + `"}`, "/pattern", "no valid schema"},
		"a pattern that grows":       {`{"pattern":"((a{100}){100}){10}"}`, "/pattern", "no valid schema"},
		"properties with a pattern":  {`{"patternProperties":{"(":true}}`, "/patternProperties", "no valid schema"},
		"a reference to nothing":     {`{"$ref":"#/$defs/x"}`, "", "no valid schema"},
		"an anchor of nothing":       {`{"$ref":"#x"}`, "", "no valid schema"},
		"a reference to a web page":  {`{"$ref":"https://example.com/schema.json"}`, "", "may refer to itself only"},
		"a reference to a file":      {`{"$ref":"file:///etc/passwd"}`, "", "may refer to itself only"},
		"a reference to a neighbour": {`{"$ref":"other.json"}`, "", "may refer to itself only"},
		"a reference to the draft":   {`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, "", "refer to itself only"},
		"another draft":              {`{"$schema":"http://json-schema.org/draft-07/schema#"}`, "/$schema", "draft"},
		"another draft inside":       {`{"$defs":{"a":{"$id":"x","$schema":"http://json-schema.org/draft-04/schema"}}}`, "/$defs/a/$schema", "draft"},
		"a dialect of one's own":     {`{"$schema":"https://example.com/mine"}`, "/$schema", "draft"},
		"a long one":                 {`{"$comment":"` + strings.Repeat("a", MaxSchema) + `"}`, "", "bytes"},
		"a deep one":                 {strings.Repeat(`{"not":`, 70) + "true" + strings.Repeat("}", 70), "", "levels"},
		"one of many parts":          {`{"allOf":[` + strings.Repeat("true,", MaxSchemaNodes) + `true]}`, "", "values"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, wrong := compileSchema(json.RawMessage(each.schema), newBudget())
			if len(wrong) != 1 || wrong[0].pointer != each.pointer || !strings.Contains(wrong[0].detail, each.says) {
				t.Errorf("got %+v, want %q at %q", wrong, each.says, each.pointer)
			}
		})
	}
}

// Schemas that would keep a machine busy for longer than anybody waits.
func TestHostileSchemasRunOutOfBudget(t *testing.T) {
	t.Parallel()
	for name, each := range hostileSchemas() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			found := checked(t, each.schema, each.value)
			took := time.Since(began)
			t.Logf("it took %s", took)
			if took > time.Minute { // a quarter of a second on a quiet machine
				t.Errorf("it took %s", took)
			}
			if len(found) != 1 || found[0] != "" {
				t.Errorf("got %v, want one refusal of the whole value", found)
			}
		})
	}
}

type hostile struct{ schema, value string }

// repeated is a schema of many equal parts.
func repeated(count int, part string) string {
	return `{"allOf":[` + strings.Repeat(part+",", count) + `true]}`
}

// cubed asks one part about a value very often.
func cubed(count int, part string) string {
	refer := func(to string) string { return repeated(count, `{"$ref":"#/$defs/`+to+`"}`) }
	return `{"$defs":{"l":` + part + `,"a":` + refer("l") + `,"b":` + refer("a") + `,"c":` + refer("b") + `},"$ref":"#/$defs/c"}`
}

func hostileSchemas() map[string]hostile {
	doubling := func(keyword, leaf string) string {
		parts := []string{`"a0":` + leaf}
		for i := range 40 {
			parts = append(parts, fmt.Sprintf(`"a%d":{%q:[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]}`, i+1, keyword, i, i))
		}
		return `{"$defs":{` + strings.Join(parts, ",") + `},"$ref":"#/$defs/a40"}`
	}
	deep := strings.Repeat(`{"a":`, 60) + "1" + strings.Repeat("}", 60)
	wide := "[" + strings.Repeat("1,", 100_000) + "1]"
	text := `"` + strings.Repeat("é", 125<<10) + `"`
	lists := "[" + strings.Repeat("["+strings.Repeat("0.5,", 3000)+"1],", 19) + "2]"
	chain := []string{`"a150":{"minimum":1}`}
	for i := range 150 {
		chain = append(chain, fmt.Sprintf(`"a%d":{"$ref":"#/$defs/a%d","items":{"type":"number"}}`, i, i+1))
	}
	return map[string]hostile{
		"all of two, over and over":        {doubling("allOf", `{"type":"number"}`), `1`},
		"any of two, which always fail":    {doubling("anyOf", `{"type":"string"}`), `1`},
		"one of two, which always fail":    {doubling("oneOf", `{"const":2}`), `1`},
		"itself twice at every level":      {`{"anyOf":[{"properties":{"a":{"$ref":"#"}},"required":["b"]},{"properties":{"a":{"$ref":"#"}},"required":["c"]}]}`, deep},
		"dynamically twice at every level": {`{"$dynamicAnchor":"n","allOf":[{"properties":{"a":{"$dynamicRef":"#n"}}},{"properties":{"a":{"$dynamicRef":"#n"}}}]}`, deep},
		"many constants for many values":   {`{"items":{"enum":[` + strings.Repeat("2,", 1900) + `3]}}`, wide},
		"many parts for many values":       {repeated(300, `{"items":{"type":"null"}}`), wide},
		"unevaluated items of many parts":  {repeated(300, `{"unevaluatedItems":{"type":"number"}}`), wide},
		"a large pattern on a long text":   {`{"pattern":"(x+x+){200}y"}`, `"` + strings.Repeat("x", 200_000) + `"`},
		"names against patterns":           {`{"propertyNames":` + repeated(10, `{"pattern":"(a|b){500}c"}`) + `}`, manyMembers(10_000)},
		"lengths of a long text":           {cubed(30, `{"minLength":1}`), text},
		"nothing about a long text":        {cubed(30, `{"title":"x"}`), text},
		"a small pattern on a long text":   {cubed(30, `{"pattern":"^é"}`), text},
		"a long text that is wanted":       {cubed(60, `{"const":"`+strings.Repeat("x", 60_000)+`"}`), `"` + strings.Repeat("x", 60_000) + `"`},
		"long texts that may be wanted":    {cubed(60, `{"enum":["`+strings.Repeat("x", 59_999)+`y","`+strings.Repeat("x", 3)+`"]}`), `"` + strings.Repeat("x", 59_999) + `y"`},
		"a few lists that must differ":     {repeated(30, `{"uniqueItems":true}`), lists},
		"many numbers that must differ":    {repeated(100, `{"uniqueItems":true}`), wide},
		"many multiples":                   {repeated(30, `{"items":{"multipleOf":0.0123456789012345678901234567890123457}}`), wide},
		"many limits":                      {repeated(100, `{"items":{"minimum":0.5}}`), wide},
		"members that others need":         {cubed(20, `{"dependentRequired":{"ab1":["ab2"],"ab3":["ab4"],"ab5":["ab6"]}}`), manyMembers(10_000)},
		"a long way to many values":        {`{"$defs":{` + strings.Join(chain, ",") + `},"$ref":"#/$defs/a0"}`, wide},
		"texts of many members":            {`{"additionalProperties":` + repeated(500, `{"maxLength":100}`) + `}`, manyTexts(2000, 100)},
		"many parts that remember members": {`{"allOf":[` + strings.Repeat(`{"title":"x"},`, 400) + `true],"unevaluatedProperties":true}`, manyMembers(10_000)},
		"alternatives for many members":    {`{"additionalProperties":{"anyOf":[` + strings.Repeat(`{"type":"null"},`, 500) + `true]}}`, manyMembers(10_000)},
	}
}

func TestASchemaIsToldAllItsProblems(t *testing.T) {
	t.Parallel()
	_, wrong := compileSchema(json.RawMessage(`{"minimum":"1","properties":{"a":{"type":"text"},"b/":{"maxLength":-1}}}`), newBudget())
	places := []string{}
	for _, each := range wrong {
		places = append(places, each.pointer)
	}
	if diff := cmp.Diff([]string{"/minimum", "/properties/a/type", "/properties/b~1/maxLength"}, places); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A stored schema may be one that this version refuses.
func TestASchemaThatCannotBeUsedIsABreach(t *testing.T) {
	t.Parallel()
	for range 2 {
		found := newSchemas().check([]json.RawMessage{json.RawMessage(`{"type":"text"}`)}, json.RawMessage("1"))
		if len(found) != 1 || !strings.Contains(found[0].detail, "schema") {
			t.Errorf("got %+v", found)
		}
	}
}

func TestCheckingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	known := newSchemas()
	defer known.work.begin(ctx, time.Minute)()
	if known.check([]json.RawMessage{json.RawMessage("{}")}, json.RawMessage("1")) != nil || known.work.interrupted() != nil {
		t.Fatal("there is nothing wrong yet")
	}
	cancel()
	known.check([]json.RawMessage{json.RawMessage("{}")}, json.RawMessage("1"))
	if !known.work.spent() || !fault.Is(known.work.interrupted(), fault.Unavailable) {
		t.Errorf("got %v", known.work.interrupted())
	}
}

func TestCompilingSchemasRunsOutOfBudget(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"many patterns":            repeated(300, `{"pattern":"(x+x+){200}y"}`),
		"many patterns of members": `{"patternProperties":{` + manyPatterns(300) + `}}`,
		"many deep parts":          strings.Repeat(`{"not":`, 50) + repeated(900, `{"type":"null"}`) + strings.Repeat("}", 50),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			_, wrong := compileSchema(json.RawMessage(text), newBudget())
			t.Logf("it took %s", time.Since(began))
			if len(wrong) != 1 || !strings.Contains(wrong[0].detail, "work") {
				t.Errorf("got %+v", wrong)
			}
		})
	}
}

func manyPatterns(count int) string {
	parts := make([]string, count)
	for i := range parts {
		parts[i] = fmt.Sprintf(`"(a|b){500}%d":true`, i)
	}
	return strings.Join(parts, ",")
}

// manyTexts is an object whose members are texts.
func manyTexts(count, length int) string {
	names := make([]string, count)
	for i := range names {
		names[i] = fmt.Sprintf(`"ab%d":%q`, i, strings.Repeat("x", length))
	}
	return "{" + strings.Join(names, ",") + "}"
}

// manyMembers is an object with many members.
func manyMembers(count int) string {
	names := make([]string, count)
	for i := range names {
		names[i] = fmt.Sprintf(`"ab%d":1`, i)
	}
	return "{" + strings.Join(names, ",") + "}"
}

func TestUsualSchemasOfLargeValuesAreWithinTheBudget(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"array","uniqueItems":true,"items":{"type":"object","required":["host","port"],"properties":{
		"host":{"type":"string","pattern":"^[a-z0-9.-]+$","maxLength":253},"port":{"type":"integer","minimum":1,"maximum":65535},
		"mode":{"enum":["a","b","c"]},"tags":{"type":"array","items":{"type":"string"}}},"additionalProperties":false}}`
	servers := make([]string, 3000)
	for i := range servers {
		servers[i] = fmt.Sprintf(`{"host":"host-%d.example.com","port":%d,"mode":"b","tags":["x","y"]}`, i, i+1)
	}
	if found := checked(t, schema, "["+strings.Join(servers, ",")+"]"); len(found) > 0 {
		t.Errorf("got %v", found)
	}
}

func TestManyLargeSchemasAreTooMuchTogether(t *testing.T) {
	t.Parallel()
	work, large := newBudget(), json.RawMessage(`{"allOf":[`+strings.Repeat(`{"type":"object"},`, 900)+`true]}`)
	for range 10 {
		if _, wrong := compileSchema(large, work); wrong != nil {
			if !strings.Contains(wrong[0].detail, "together") {
				t.Errorf("got %+v", wrong)
			}
			return
		}
	}
	t.Error("ten of them are compiled")
}
