package jsonapi_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jsonapi"
)

// FuzzEnvelope reads any bytes as a document of one resource, with every reader. No reader may
// panic, and every refusal must be fit for a caller.
func FuzzEnvelope(f *testing.F) {
	for _, text := range []string{
		``, ` `, `{`, `{}`, `[]`, `null`, `{"data":{}}`, `{"data":null}`, `{"data":[]}`, `{"data":{"attributes":{}}}`, `{"data":{"attributes":null}}`,
		`{"data":{"id":"a","type":"environment","attributes":{"name":"N","color":null,"managed":true,"n":-0.0e+1,"at":"2030-01-31T08:00:00Z","list":["a"],"o":{"p":{}}}}}`,
		`{"data":{"id":1,"type":2,"attributes":{"name":"\u0000","s":["\u0000"],"~/":{"~1/":1},"":0}}}`, `{"data":{"attributes":{"a":1,"a":"2","a":{}}}}`,
		"\ufeff{}", "{\"data\":{\"attributes\":{\"\xff\":1}}}", `{"data":{"attributes":{"\ud800":"\udfff","n":1e999,"m":NaN}}}`,
		strings.Repeat(`{"data":`, 20), `{"data":{"attributes":{"a":` + strings.Repeat("[", 50) + strings.Repeat("]", 50) + `}}}`,
		`{"data":{"attributes":{"at":"9999-12-31T23:59:59.9999999-00:01","b":"0000-01-01T00:00:00+23:59"}}}{}`, "{\"data\" :\t{\n\"attributes\": { } } }\r\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		envelope, err := jsonapi.ParseEnvelope(text, "environment")
		if err != nil {
			requireShowable(t, err)
			return
		}
		if id, sent := envelope.ID.Get(); sent && (!utf8.ValidString(id) || strings.ContainsRune(id, 0)) {
			t.Errorf("the id is %q", id)
		}
		envelope.RequireID("a")
		readEverything(t, envelope.Attributes, 0)
		if err := problemsOf(envelope); err != nil {
			requireShowable(t, err)
		}
	})
}

// readEverything reads every member with every reader, also in some nested objects.
func readEverything(t *testing.T, object *jsonapi.Object, depth int) {
	t.Helper()
	for _, name := range append(slices.Clone(object.Names()), "absent", "") {
		if text, ok := object.String(name).Get(); ok && (!utf8.ValidString(text) || strings.ContainsRune(text, 0)) {
			t.Errorf("the string %q cannot be stored", text)
		}
		for _, text := range object.Strings(name).Or(nil) {
			if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
				t.Errorf("the string %q cannot be stored", text)
			}
		}
		if number, ok := object.Number(name).Get(); ok {
			if _, err := json.Marshal(number); err != nil {
				t.Errorf("the number %v cannot be written: %v", number, err)
			}
		}
		if raw, ok := object.RawObject(name, "{}").Get(); ok && !json.Valid(raw) {
			t.Errorf("%s is no JSON", raw)
		}
		for _, item := range object.Array(name).Or(nil) {
			if !json.Valid(item) {
				t.Errorf("%s is no JSON", item)
			}
		}
		object.Bool(name)
		object.Time(name)
		if child, ok := object.Object(name, "{}").Get(); ok && depth < 3 {
			readEverything(t, child, depth+1)
		}
	}
	object.Unknown("name")
	requireRest(t, object)
}

// requireRest checks that an object without a member has all other members, in their order.
func requireRest(t *testing.T, object *jsonapi.Object) {
	t.Helper()
	rest := object.Without("name")
	again, err := jsonapi.ParseObject(rest)
	if err != nil {
		t.Fatalf("what is left is %q: %v", rest, err)
	}
	want := slices.DeleteFunc(slices.Clone(object.Names()), func(name string) bool { return name == "name" })
	if !slices.Equal(want, again.Names()) {
		t.Errorf("of %q, %q are left", want, again.Names())
	}
}

// requireShowable checks that an error is a refusal that a caller may see: it has a known
// status, a sentence, and a JSON pointer or a parameter.
func requireShowable(t *testing.T, err error) {
	t.Helper()
	status, document := jsonapi.Errors(err, "r-1")
	text, encoding := json.Marshal(document)
	if status != 400 || encoding != nil || !utf8.Valid(text) || len(document.Errors) == 0 {
		t.Fatalf("%v became %d %s (%v)", err, status, text, encoding)
	}
	for _, each := range document.Errors {
		if each.Status != "400" || each.Title == "" || each.Detail == "" || each.Meta == nil {
			t.Errorf("incomplete: %+v", each)
		}
		switch each.Code {
		case fault.Validation:
			if each.Source == nil || each.Source.Pointer == nil || (*each.Source.Pointer != "" && (*each.Source.Pointer)[0] != '/') {
				t.Errorf("it points nowhere: %s", text)
			}
		case fault.InvalidParameter:
			if each.Source != nil && each.Source.Parameter == nil && each.Source.Pointer != nil {
				t.Errorf("it is about no parameter: %s", text)
			}
		default:
			t.Errorf("the code is %s", each.Code)
		}
	}
}

// FuzzQuery reads any text as query parameters, as every list does.
func FuzzQuery(f *testing.F) {
	for _, raw := range []string{
		"", "page[number]=1&page[size]=1000&meta[total]=true&sort=-name,key", "page%5Bnumber%5D=0&page%5bsize%5d=1001", "page[number]=99999999999999999999",
		"sort=,,&sort=a", "sort=" + strings.Repeat("a,", 100), "filter[search]=%00", "filter[search]=%ff", "search=%25%5f", "filter[managed]=TRUE&managed=no",
		"filter[created_at]=[2030-01-01T00:00:00Z,*)", "filter[created_at]=[,)", "filter[created_at]=[*,*,*)", "filter[created_at]=[)", "filter[created_at]=)",
		"%zz", "a;b", "=", "&&&", "[]=&filter[]=&page[=1", "page[after]=1&page[before]=2", "filter[filter[x]]=1", "meta[total]=", "cascade=perhaps", strings.Repeat("a=1&", 50),
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		parsed, err := jsonapi.ParseQuery(raw)
		if err != nil {
			requireShowable(t, err)
			return
		}
		request := parsed.Page()
		if request.Number < 1 || request.Size < 1 || request.Size > 1000 || request.Offset() < 0 || len(request.Sort) > 8 {
			t.Errorf("got the page %+v", request)
		}
		if text, sent := parsed.Filter("search").Get(); sent && (!utf8.ValidString(text) || strings.ContainsRune(text, 0)) {
			t.Errorf("the filter %q cannot be asked for", text)
		}
		parsed.FilterBool("managed")
		parsed.FilterRange("created_at")
		parsed.Bool("cascade")
		parsed.Refuse("search", "is not good enough")
		if err := parsed.Err(); err == nil {
			t.Error("the refusal is lost")
		} else {
			requireShowable(t, err)
		}
		cursor, _ := jsonapi.ParseQuery(raw)
		if got := cursor.Cursor("-created_at"); got.Size < 1 || got.Size > 1000 || !utf8.ValidString(got.After) {
			t.Errorf("got the cursor %+v", got)
		}
		if err := cursor.Err(); err != nil {
			requireShowable(t, err)
		}
	})
}

// FuzzParseTime checks that a parsed time can be written and parsed again.
func FuzzParseTime(f *testing.F) {
	for _, text := range []string{
		"2030-01-31T08:00:00Z", "2030-01-31t08:00:00.123456789z", "2030-01-31T08:00:00", "2030-01-31T08:00", "2030-01-31T08:00:00+14:00", "2030-01-31T08:00:00-24:60",
		"0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "2028-02-29T23:59:60Z", "2030-02-29T00:00:00Z", "", "T", "Z", "now",
		"2030-01-31T08:00:00,5Z", "2030-01-31T08:00:00.Z", "١٢٣٤-01-01T00:00:00Z", "9999-12-31T23:59:59-00:01", "0000-01-01T00:00:00+00:01",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, ok := jsonapi.ParseTime(text)
		if !ok {
			return
		}
		if at.Location() != time.UTC || at.Nanosecond()%1000 != 0 {
			t.Errorf("%q became %v", text, at)
		}
		written, err := at.MarshalJSON()
		if err != nil {
			t.Fatalf("%q became %v, which cannot be written: %v", text, at, err)
		}
		again, ok := jsonapi.ParseTime(strings.Trim(string(written), `"`))
		if !ok || !again.Equal(at) {
			t.Errorf("%q became %s and then %v", text, written, again)
		}
	})
}
