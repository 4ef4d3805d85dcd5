package jsonapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jsonapi"
)

// reader reads one member and reports whether it found a value.
type reader func(o *jsonapi.Object, name string) (found, null bool)

func readers() map[string]reader {
	return map[string]reader{
		"String": func(o *jsonapi.Object, name string) (bool, bool) {
			value := o.String(name)
			_, found := value.Get()
			return found, value.IsNull()
		},
		"Bool": func(o *jsonapi.Object, name string) (bool, bool) {
			value := o.Bool(name)
			_, found := value.Get()
			return found, value.IsNull()
		},
		"Number": func(o *jsonapi.Object, name string) (bool, bool) {
			value := o.Number(name)
			_, found := value.Get()
			return found, value.IsNull()
		},
		"Time": func(o *jsonapi.Object, name string) (bool, bool) {
			value := o.Time(name)
			_, found := value.Get()
			return found, value.IsNull()
		},
		"Strings": func(o *jsonapi.Object, name string) (bool, bool) {
			value := o.Strings(name)
			_, found := value.Get()
			return found, value.IsNull()
		},
		"Array": func(o *jsonapi.Object, name string) (bool, bool) {
			value := o.Array(name)
			_, found := value.Get()
			return found, value.IsNull()
		},
		"Object": func(o *jsonapi.Object, name string) (bool, bool) {
			value := o.Object(name, "")
			_, found := value.Get()
			return found, value.IsNull()
		},
		"RawObject": func(o *jsonapi.Object, name string) (bool, bool) {
			value := o.RawObject(name, "")
			_, found := value.Get()
			return found, value.IsNull()
		},
	}
}

// TestObject_ReadersAcceptOneKind tries every reader with every kind of value.
func TestObject_ReadersAcceptOneKind(t *testing.T) {
	t.Parallel()
	takes := map[string][]string{
		`"text"`:                 {"String"},
		`"2030-01-31T08:00:00Z"`: {"String", "Time"},
		`""`:                     {"String"},
		`"zero\u0000"`:           {},
		`true`:                   {"Bool"},
		`false`:                  {"Bool"},
		`0`:                      {"Number"},
		`-1.5e3`:                 {"Number"},
		`["a","b"]`:              {"Strings", "Array"},
		`[]`:                     {"Strings", "Array"},
		`["a",1]`:                {"Array"},
		`["a",null]`:             {"Array"},
		`["zero\u0000"]`:         {"Array"},
		`{}`:                     {"Object", "RawObject"},
		`{"a":{"b":1}}`:          {"Object", "RawObject"},
		`null`:                   {},
	}
	for text, takers := range takes {
		t.Run(text, func(t *testing.T) {
			for name, read := range readers() {
				t.Run(name, func(t *testing.T) {
					object := parse(t, `{"member": `+text+` }`)
					found, null := read(object, "member")
					problem := object.Problems().Err()
					want := slices.Contains(takers, name)
					if found != want || null != (text == "null") || (problem == nil) != (want || text == "null") {
						t.Errorf("%s of %s: found %v, null %v, problem %v", name, text, found, null, problem)
					}
					if found, null := read(object, "absent"); found || null {
						t.Errorf("%s finds what is absent", name)
					}
				})
			}
		})
	}
}

func parse(t *testing.T, text string) *jsonapi.Object {
	t.Helper()
	object, err := jsonapi.ParseObject([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return object
}

func TestObject_ProblemPointers(t *testing.T) {
	t.Parallel()
	object := parse(t, `{"a":1,"deep":{"er":{"x/y~z":2}},"more":{"known":1,"unknown":2}}`)
	object.String("a")
	deep, _ := object.Object("deep", "").Get()
	deeper, _ := deep.Object("er", "").Get()
	deeper.Bool("x/y~z")
	deeper.Bool("x/y~z") // the problem is recorded once
	more, _ := object.Object("more", "").Get()
	more.Unknown("known", "other")
	var places []string
	for _, each := range fault.All(object.Problems().Err()) {
		places = append(places, each.Source.Path)
	}
	if difference := cmp.Diff([]string{"/a", "/deep/er/x~1y~0z", "/more/unknown"}, places); difference != "" {
		t.Error(difference)
	}
}

func TestObject_ExampleOfShape(t *testing.T) {
	t.Parallel()
	object := parse(t, `{"scopes":7,"rules":[{},8]}`)
	object.Object("scopes", `{"environments": ["staging"]}`)
	for range object.Items("rules", `{"value": true}`) {
	}
	var sentences []string
	for _, each := range fault.All(object.Problems().Err()) {
		sentences = append(sentences, each.Detail)
	}
	want := []string{`scopes must be an object such as {"environments": ["staging"]}.`, `rules/1 must be an object such as {"value": true}.`}
	if difference := cmp.Diff(want, sentences); difference != "" {
		t.Error(difference)
	}
}

func TestParseObject_Unreadable(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 900) + strings.Repeat("]", 900)
	for text, want := range map[string]string{
		`{"a":{"b":1e999}}`:        `/a/b: a/b must be a number between -1.8e308 and 1.8e308, the range of 64-bit floating point numbers.`,
		`{"a":["x","\ud800"]}`:     `/a/1: a/1 must not contain half of a surrogate pair, one of \ud800 to \udfff alone: it is not a character.`,
		`{"\udc00":1}`:             `: The document must not have a member whose name contains half of a surrogate pair, one of \ud800 to \udfff alone: it is not a character.`,
		`{"a":{"b":1},"a":{}}`:     `/a: a must be sent once: there is another member of this name in the same object.`,
		`{"a":` + deep + `}`:       `/a` + strings.Repeat("/0", 139) + `: a` + strings.Repeat("/0", 139) + ` must not be nested here: a document may have at most 140 levels of arrays and objects.`,
		`{"a":1e999,"b":"\udfff"}`: "2 problems",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := jsonapi.ParseObject([]byte(text))
			refusals := fault.All(err)
			got := fmt.Sprint(len(refusals), " problems")
			if len(refusals) == 1 {
				got = refusals[0].Source.Path + ": " + refusals[0].Detail
			}
			if got != want {
				t.Errorf("%.60s: got %s, want %s", text, got, want)
			}
		})
	}
}

func TestObject_DeepValues(t *testing.T) {
	t.Parallel()
	for levels, fine := range map[int]bool{64: true, 65: false} {
		t.Run(fmt.Sprint(levels), func(t *testing.T) {
			deep := strings.Repeat("[", levels-1) + strings.Repeat("]", levels-1)
			object := parse(t, `{"a":[`+deep+`],"b":{"x":`+deep+`},"c":[`+deep+`],"d":[`+deep+`]}`)
			object.Raw("a")
			object.RawObject("b", "{}")
			object.RawOrNull("c")
			object.Without("a", "b", "c")
			places := []string{}
			for _, each := range fault.All(object.Problems().Err()) {
				places = append(places, each.Source.Path)
			}
			want := []string{}
			if !fine {
				want = []string{"/a", "/b", "/c", "/d"}
			}
			if difference := cmp.Diff(want, places); difference != "" {
				t.Errorf("%d levels: %s", levels, difference)
			}
		})
	}
}

// TestParseReport_Items: a bad item does not make the other items fail.
func TestParseReport_Items(t *testing.T) {
	t.Parallel()
	body, err := jsonapi.ParseReport([]byte(`{"items":[{"a":1e999},{"a":1,"a":2},{"a":3}]}`), "items")
	if err != nil {
		t.Fatal(err)
	}
	for index, text := range body.Array("items").Or(nil) {
		item, isObject := jsonapi.ParseItem(text)
		if err := item.Problems().Err(); !isObject || (err == nil) != (index == 2) {
			t.Errorf("item %d: %v", index, err)
		}
	}
	for _, text := range []string{`{"items":[],"items":[]}`, `{"items":[],"more":1e999}`} {
		t.Run(text, func(t *testing.T) {
			if _, err := jsonapi.ParseReport([]byte(text), "items"); !fault.Is(err, fault.Validation) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestParseEnvelope_ProblemPointers(t *testing.T) {
	t.Parallel()
	envelope, err := jsonapi.ParseEnvelope([]byte(`{"data":{"id":7,"type":"b","attributes":{"n":1,"o":{"p":2}}}}`), "a")
	if err != nil {
		t.Fatal(err)
	}
	envelope.Attributes.String("n")
	nested, _ := envelope.Attributes.Object("o", "").Get()
	nested.String("p")
	_, document := jsonapi.Errors(problemsOf(envelope), "")
	var pointers []string
	for _, each := range document.Errors {
		pointers = append(pointers, *each.Source.Pointer)
	}
	if difference := cmp.Diff([]string{"/data/type", "/data/id", "/data/attributes/n", "/data/attributes/o/p"}, pointers); difference != "" {
		t.Error(difference)
	}
}

func TestEnvelope_RequireID(t *testing.T) {
	t.Parallel()
	for sent, fine := range map[string]bool{`"A.b"`: false, `"a.b"`: true, `null`: true, `"c"`: false, `""`: false} {
		t.Run(sent, func(t *testing.T) {
			envelope, err := jsonapi.ParseEnvelope([]byte(`{"data":{"id":`+sent+`,"attributes":{}}}`), "a")
			if err != nil {
				t.Fatal(err)
			}
			envelope.RequireID("a.b")
			if err := problemsOf(envelope); (err == nil) != fine {
				t.Errorf("the id %s: %v", sent, err)
			}
		})
	}
}

func TestObject_Without(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{}`:                                `{}`,
		`{"x":1}`:                           `{}`,
		`{"b":1.0,"x":2,"a":{"z":1,"a":2}}`: `{"b":1.0,"a":{"z":1,"a":2}}`,
		`{"\u0061":1e300,"\"":"\ud83d\ude80","X":[ 1 ]}`: `{"a":1e300,"\"":"\ud83d\ude80","X":[ 1 ]}`,
	} {
		t.Run(text, func(t *testing.T) {
			got := parse(t, text).Without("x")
			if string(got) != want || !json.Valid(got) {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	at := func(nanoseconds int) time.Time { return time.Date(2030, 1, 31, 8, 0, 0, nanoseconds, time.UTC) }
	for text, want := range map[string]time.Time{
		"2030-01-31T08:00:00Z": at(0), "2030-01-31t08:00:00z": at(0), "2030-01-31T08:00:00": at(0), "2030-01-31T08:00": at(0), "2030-01-31T08:00Z": at(0),
		"2030-01-31T09:30:00+01:30": at(0), "2030-01-31T00:00:00-08:00": at(0), "2030-01-31T08:00:00.25Z": at(250_000_000),
		"2030-01-31T08:00:00.123456789Z": at(123_456_000), "2030-01-31T08:00:00,5Z": at(500_000_000),
		"2030-01-31T09:30:00+0130": at(0), "2030-01-31T09:00:00+01": at(0), "2030-01-31T00:00-0800": at(0), "2030-01-31T00:00:00.5-08": at(500_000_000),
		"2030-02-01T07:59:00+23:59": at(0), "2030-01-30T08:01-2359": at(0), "2030-01-30T09:00-23": at(0),
		"20300131T080000Z": at(0), "20300131T080000.25": at(250_000_000), "20300131T093000+0130": at(0), "20300131T0800Z": at(0),
	} {
		t.Run(text, func(t *testing.T) {
			got, ok := jsonapi.ParseTime(text)
			if !ok || !got.Equal(want) || got.Location() != time.UTC {
				t.Errorf("got %v %v, want %v", got, ok, want)
			}
		})
	}
	for _, text := range []string{
		"", "now", "2030", "2030-01-31", "2030-01-31T", "2030-01-31 08:00:00", "2030-1-31T08:00:00Z", "2030-02-30T08:00:00Z", "2030-01-31T25:00:00Z",
		"2030-01-31T08:00:61Z", "2030-01-31T08:00:00+25:00", "20300131", "20300132T080000Z", "2030-01-31T08:00:00 +01:00", "2030-01-31T08:00:00Zulu", "-2030-01-31T08:00:00Z", "20300-01-31T08:00:00Z",
		"２０３０-01-31T08:00:00Z", "2030-01-31T08:00:00+24:00", "2030-01-31T08:00:00-24:00", "2030-01-31T08:00:00.5+01:60", "2030-01-31T08:00+24",
		"20300131T080000-2400", "20300131T0800+0060",
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			if got, ok := jsonapi.ParseTime(text); ok {
				t.Errorf("%q is read as %v", text, got)
			}
		})
	}
}

// TestObject_ManyProblems: a body of eight megabytes can have almost a million problems.
func TestObject_ManyProblems(t *testing.T) {
	few, many := 2_000, 32_000
	base, took := timeOfProblems(t, few), timeOfProblems(t, many)
	for range 4 { // the best result on a busy machine
		base, took = min(base, timeOfProblems(t, few)), min(took, timeOfProblems(t, many))
	}
	// Sixteen times as many problems may take sixteen times as long. On a busy machine, allow ten times that, because
	// only the long attempts may be interrupted. If each problem were compared with all others, it would take 256 times
	// as long.
	if took > 160*base+100*time.Millisecond {
		t.Errorf("%d problems take %s, and %d take %s", few, base, many, took)
	}
}

func timeOfProblems(t *testing.T, count int) time.Duration {
	t.Helper()
	var text strings.Builder
	for i := range count {
		fmt.Fprintf(&text, `,"%d":0`, i)
	}
	object := parse(t, "{"+text.String()[1:]+"}")
	began := time.Now()
	object.Unknown("known")
	took := time.Since(began)
	const most = 1000 // the limit of problems for one input
	if found := len(fault.All(object.Problems().Err())); found != min(count, most) {
		t.Fatalf("%d problems were found, want %d", found, min(count, most))
	}
	return took
}

// TestObject_ItemsLongArray: a long array is split into items once. If it were split again for each item, this test
// would not end.
func TestObject_ItemsLongArray(t *testing.T) {
	t.Parallel()
	const many = 200_000
	text := `{"list":[` + strings.Repeat(`{"a":1},5,`, many/2) + `{"a":1}]}`
	object, err := jsonapi.ParseObject([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for index, item := range object.Items("list", "") {
		if index != 2*read || !slices.Equal(item.Names(), []string{"a"}) {
			t.Fatalf("item %d is %v, after %d items", index, item.Names(), read)
		}
		read++
	}
	problems := fault.All(object.Problems().Err())
	if read != many/2+1 || len(problems) == 0 || problems[0].Source != fault.Pointer("/list/1") {
		t.Errorf("%d items and %d problems", read, len(problems))
	}
}

func TestObject_ItemsNotArray(t *testing.T) {
	t.Parallel()
	object, err := jsonapi.ParseObject([]byte(`{"list":{},"none":null,"two":[{},{}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"list", "none", "absent"} {
		t.Run(name, func(t *testing.T) {
			for index := range object.Items(name, "") {
				t.Errorf("%s has an item %d", name, index)
			}
		})
	}
	for index := range object.Items("two", "") {
		if index > 0 {
			t.Error("the iteration continues after the reader has stopped")
		}
		break
	}
	if problems := fault.All(object.Problems().Err()); len(problems) != 1 || problems[0].Source != fault.Pointer("/list") {
		t.Errorf("got %v", problems)
	}
}

func problemsOf(envelope *jsonapi.Envelope) error {
	problems := envelope.Done()
	return problems.Err()
}
