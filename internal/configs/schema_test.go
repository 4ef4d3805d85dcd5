package configs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// compiled compiles a schema and fails if it is not usable.
func compiled(t *testing.T, text string) *schemas {
	t.Helper()
	known := newSchemas()
	for _, wrong := range known.compile(json.RawMessage(text)).unusable {
		t.Fatalf("%.200s: %s %s", text, wrong.pointer, wrong.detail)
	}
	known.work = maxSteps // as in a write
	return known
}

// checked returns the pointers at which a value breaks a schema.
func checked(t *testing.T, text, value string) []string {
	t.Helper()
	pointers := []string{}
	for _, found := range compiled(t, text).check([]json.RawMessage{json.RawMessage(text)}, layers{json.RawMessage(value)}) {
		if found.detail == "" {
			t.Errorf("%s breaks %s at %q without a reason", value, text, found.pointer)
		}
		pointers = append(pointers, found.pointer)
	}
	return pointers
}

func TestSchemas_ViolationPointers(t *testing.T) {
	t.Parallel()
	const server = `{"type":"object","required":["host"],"properties":{"host":{"type":"string"},"port":{"type":"integer","maximum":65535}},"additionalProperties":false}`
	for name, each := range map[string]struct {
		schema, value string
		want          []string
	}{
		"fits":                    {server, `{"host":"db","port":5432}`, []string{}},
		"another spelling":        {server, `{"host":"db","port":5432.0}`, []string{}},
		"another type":            {server, `{"host":"db","port":"x"}`, []string{"/port"}},
		"two places":              {server, `{"host":1,"port":70000}`, []string{"/host", "/port"}},
		"missing member":          {server, `{}`, []string{""}},
		"member too many":         {server, `{"host":"db","prot":1}`, []string{""}},
		"another kind of value":   {server, `[1]`, []string{""}},
		"in an array":             {`{"items":{"properties":{"a":{"const":1}}}}`, `[{"a":1},{"a":2}]`, []string{"/1/a"}},
		"escaped names":           {`{"properties":{"a/b~":{"type":"null"}}}`, `{"a/b~":1}`, []string{"/a~1b~0"}},
		"anyOf":                   {`{"properties":{"a":{"anyOf":[{"type":"null"},{"type":"string"}]}}}`, `{"a":1}`, []string{"/a"}},
		"reference":               {`{"$defs":{"p":{"minimum":1}},"properties":{"a":{"$ref":"#/$defs/p"}}}`, `{"a":0}`, []string{"/a"}},
		"reference used twice":    {`{"$defs":{"p":{"minimum":1}},"properties":{"a":{"$ref":"#/$defs/p"},"b":{"$ref":"#/$defs/p"}}}`, `{"a":0,"b":1}`, []string{"/a"}},
		"reference to an anchor":  {`{"$defs":{"p":{"$anchor":"low","minimum":1}},"properties":{"a":{"$ref":"#low"}}}`, `{"a":0}`, []string{"/a"}},
		"reference to a neighbor": {`{"properties":{"a":{"minimum":1},"b":{"$ref":"#/properties/a"}}}`, `{"b":0}`, []string{"/b"}},
		"own id":                  {`{"$id":"https://example.com/a","$defs":{"b":{"type":"string"}},"$ref":"#/$defs/b"}`, `1`, []string{""}},
		"reference in a constant": {`{"const":{"$ref":"https://example.com"}}`, `{"$ref":"https://example.com"}`, []string{}},
		"pattern":                 {`{"pattern":"^[a-z]+$"}`, `"A"`, []string{""}},
		"format is no assertion":  {`{"format":"date-time"}`, `"never"`, []string{}},
		"false":                   {`false`, `1`, []string{""}},
		"true":                    {`true`, `1`, []string{}},
		"named draft":             {`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"null"}`, `null`, []string{}},
		"huge number":             {`{"type":"number","minimum":1}`, `1e999999999`, []string{}},
		"tiny number":             {`{"type":"number","maximum":1}`, `1e-999999999`, []string{}},
		"at most 20 places":       {`{"items":{"type":"null"}}`, "[" + strings.Repeat("1,", 99) + "1]", twenty()},
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
	for i := range maxViolations {
		pointers = append(pointers, fmt.Sprint("/", i))
	}
	slices.Sort(pointers)
	return pointers
}

func TestCompileSchema_Refused(t *testing.T) {
	t.Parallel()
	properties := func(levels int) string {
		return strings.Repeat(`{"items":`, levels) + "true" + strings.Repeat("}", levels)
	}
	for name, each := range map[string]struct{ schema, pointer, says string }{
		"unknown type":                {`{"properties":{"a":{"type":"text"}}}`, "/properties/a/type", "no valid schema"},
		"keyword of another type":     {`{"minimum":"1"}`, "/minimum", "no valid schema"},
		"broken pattern":              {`{"properties":{"a":{"pattern":"("}}}`, "/properties/a/pattern", "no valid schema"},
		"look-ahead":                  {`{"pattern":"a(?=b)"}`, "/pattern", "no valid schema"},
		"long pattern":                {`{"pattern":"` + strings.Repeat("a", MaxPattern+1) + `"}`, "/pattern", "1000"},
		"growing pattern":             {`{"pattern":"((a{100}){100}){10}"}`, "/pattern", "invalid repeat count"},
		"large pattern":               {`{"pattern":"((abcd|efgh){30}c){30}"}`, "/pattern", "at most 5000"},
		"many patterns":               {`{"allOf":[` + manyPatterns(9, `{"pattern":"(a|b){200}%d"}`) + `]}`, "/allOf/8/pattern", "5000"},
		"broken patternProperties":    {`{"patternProperties":{"(":true}}`, "/patternProperties", "no valid schema"},
		"dangling reference":          {`{"$ref":"#/$defs/x"}`, "", "no valid schema"},
		"dangling anchor":             {`{"$ref":"#x"}`, "", "no valid schema"},
		"reference to a web page":     {`{"$ref":"https://example.com/schema.json"}`, "/$ref", "its own parts only"},
		"reference to a file":         {`{"items":{"$ref":"file:///etc/passwd"}}`, "/items/$ref", "its own parts only"},
		"reference to another file":   {`{"allOf":[true,{"$ref":"other.json#/a"}]}`, "/allOf/1/$ref", "its own parts only"},
		"reference to the draft":      {`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, "/$ref", "its own parts only"},
		"hidden reference":            {`{"properties":{"default":{"$ref":"https://example.com/"}}}`, "", "its own parts only"},
		"hidden reference to a draft": {`{"properties":{"default":{"$ref":"http://json-schema.org/draft-07/schema"}}}`, "/$schema", "draft"},
		"recursion":                   {`{"properties":{"next":{"$ref":"#"}}}`, "/properties/next/$ref", "must not lead back"},
		"recursion of two":            {`{"$defs":{"a":{"items":{"$ref":"#/$defs/b"}},"b":{"items":{"$ref":"#/$defs/a"}}},"$ref":"#/$defs/a"}`, "/$defs/b/items/$ref", "must not lead back"},
		"reference to itself":         {`{"$ref":"#"}`, "/$ref", "must not lead back"},
		"recursion by an anchor":      {`{"$anchor":"n","not":{"$ref":"#n"}}`, "/not/$ref", "must not lead back"},
		"recursion in a dependency":   {`{"dependencies":{"a":{"$ref":"#"}}}`, "/dependencies/a/$ref", "must not lead back"},
		"$dynamicRef":                 {`{"$defs":{"n":{"$dynamicAnchor":"n"}},"items":{"$dynamicRef":"#n"}}`, "/items/$dynamicRef", "not supported"},
		"$dynamicAnchor":              {`{"$dynamicAnchor":"n"}`, "/$dynamicAnchor", "not supported"},
		"unevaluatedProperties":       {`{"items":{"unevaluatedProperties":false}}`, "/items/unevaluatedProperties", "not supported"},
		"unevaluatedItems":            {`{"unevaluatedItems":{"type":"null"}}`, "/unevaluatedItems", "not supported"},
		"another draft":               {`{"$schema":"http://json-schema.org/draft-07/schema#"}`, "/$schema", "draft"},
		"another draft inside":        {`{"$defs":{"a":{"$id":"x","$schema":"http://json-schema.org/draft-04/schema"}}}`, "/$defs/a/$schema", "draft"},
		"hidden draft":                {`{"properties":{"default":{"$id":"x","$schema":"http://json-schema.org/draft-07/schema#","items":{"$ref":"#"}}}}`, "/properties/default/$schema", "draft"},
		"hidden draft of 2019":        {`{"properties":{"enum":{"$id":"x","$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveRef":"#"}}}`, "/properties/enum/$schema", "draft"},
		"own dialect":                 {`{"$schema":"https://example.com/mine"}`, "/$schema", "draft"},
		"too long":                    {`{"$comment":"` + strings.Repeat("a", MaxSchema) + `"}`, "", "bytes"},
		"too deep":                    {strings.Repeat(`{"not":`, 70) + "true" + strings.Repeat("}", 70), "", "levels"},
		"too many values":             {`{"allOf":[` + strings.Repeat("true,", MaxSchemaNodes) + `true]}`, "", "values"},
		"subschemas too deep":         {properties(MaxSchemaDepth), "", "levels inside of each other"},
		"references too deep":         {referenceChain(MaxSchemaDepth), "/$defs/a0", "levels inside of each other"},
		"allOf of two, over and over": {doubling("allOf", `{"type":"number"}`), "/$defs/a11", "5000 subschemas"},
		"anyOf of two, over and over": {doubling("anyOf", `{"type":"string"}`), "/$defs/a11", "5000 subschemas"},
		"oneOf of two, over and over": {doubling("oneOf", `{"const":2}`), "/$defs/a10", "5000 subschemas"},
		"items twice, over and over":  {doublingItems(), "/$defs/a10", "5000 subschemas"},
		"thousands of references":     {cubed(30, `{"minLength":1}`), "/$defs/c", "5000 subschemas"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong := newSchemas().compile(json.RawMessage(each.schema)).unusable
			if len(wrong) != 1 || wrong[0].pointer != each.pointer || !strings.Contains(wrong[0].detail, each.says) {
				t.Errorf("got %+v, want %q at %q", wrong, each.says, each.pointer)
			}
		})
	}
}

func TestCompileSchema_AllProblems(t *testing.T) {
	t.Parallel()
	wrong := newSchemas().compile(json.RawMessage(`{"minimum":"1","properties":{"a":{"type":"text"},"b/":{"maxLength":-1}}}`)).unusable
	places := []string{}
	for _, each := range wrong {
		places = append(places, each.pointer)
	}
	if diff := cmp.Diff([]string{"/minimum", "/properties/a/type", "/properties/b~1/maxLength"}, places); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestCompileSchema_LargestAllowed(t *testing.T) {
	t.Parallel()
	for name, schema := range map[string]string{
		"values":     `{"allOf":[` + strings.Repeat("true,", MaxSchemaNodes-3) + `true]}`,
		"depth":      strings.Repeat(`{"items":`, MaxSchemaDepth-1) + "true" + strings.Repeat("}", MaxSchemaDepth-1),
		"references": referenceChain(MaxSchemaDepth - 3),
		"cube":       cubed(10, `{"minLength":1}`),
	} {
		t.Run(name, func(t *testing.T) {
			if wrong := newSchemas().compile(json.RawMessage(schema)).unusable; wrong != nil {
				t.Error(wrong)
			}
		})
	}
}

func TestSchemas_ManyLargeOnes(t *testing.T) {
	t.Parallel()
	known := newSchemas()
	for i := range 10 {
		large := fmt.Sprintf(`{"title":"%d","allOf":[%strue]}`, i, strings.Repeat(`{"type":"object"},`, 900))
		if wrong := known.compile(json.RawMessage(large)).unusable; wrong != nil {
			if !strings.Contains(wrong[0].detail, "together") {
				t.Errorf("got %+v", wrong)
			}
			return
		}
	}
	t.Error("ten of them are compiled")
}

// This version may refuse a schema that an older version stored.
func TestSchemas_StoredOneIsUnusable(t *testing.T) {
	t.Parallel()
	for _, stored := range []string{`{"type":"text"}`, `{"items":{"$ref":"#"}}`} {
		t.Run(stored, func(t *testing.T) {
			found := newSchemas().check([]json.RawMessage{json.RawMessage(stored)}, layers{json.RawMessage("1")})
			if len(found) != 1 || !strings.Contains(found[0].detail, "schema") {
				t.Errorf("got %+v", found)
			}
		})
	}
}

// repeated returns a schema that has the same part many times.
func repeated(count int, part string) string {
	return `{"allOf":[` + strings.Repeat(part+",", count) + `true]}`
}

// cubed returns a schema that refers to one part count³ times.
func cubed(count int, part string) string {
	refer := func(to string) string { return repeated(count, `{"$ref":"#/$defs/`+to+`"}`) }
	return `{"$defs":{"l":` + part + `,"a":` + refer("l") + `,"b":` + refer("a") + `,"c":` + refer("b") + `},"$ref":"#/$defs/c"}`
}

// doubling returns a schema in which every part refers twice to the next part.
func doubling(keyword, leaf string) string {
	parts := []string{`"a0":` + leaf}
	for i := range 40 {
		parts = append(parts, fmt.Sprintf(`"a%d":{%q:[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]}`, i+1, keyword, i, i))
	}
	return `{"$defs":{` + strings.Join(parts, ",") + `},"$ref":"#/$defs/a40"}`
}

// doublingItems is like doubling, for the elements of nested arrays.
func doublingItems() string {
	parts := []string{`"a0":{"type":"null"}`}
	for i := range 20 {
		parts = append(parts, fmt.Sprintf(`"a%d":{"items":{"$ref":"#/$defs/a%d"},"contains":{"allOf":[{"$ref":"#/$defs/a%d"}]}}`, i+1, i, i))
	}
	return `{"$defs":{` + strings.Join(parts, ",") + `},"$ref":"#/$defs/a20"}`
}

// referenceChain returns a schema with a chain of references.
func referenceChain(length int) string {
	parts := []string{fmt.Sprintf(`"a%d":{"minimum":1}`, length)}
	for i := range length {
		parts = append(parts, fmt.Sprintf(`"a%d":{"$ref":"#/$defs/a%d"}`, i, i+1))
	}
	return `{"$defs":{` + strings.Join(parts, ",") + `},"items":{"$ref":"#/$defs/a0"}}`
}

func manyPatterns(count int, format string) string {
	parts := make([]string, count)
	for i := range parts {
		parts[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(parts, ",")
}
