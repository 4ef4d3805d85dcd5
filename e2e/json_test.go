package e2e

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// compareJSON compares a part of the JSON text in stdout.
func compareJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg && len(args) == 1 {
		if found, err := lookUp(ts, args[0]); err == nil {
			ts.Fatalf("%s is there: %v", args[0], found)
		}
		return
	}
	if neg || len(args) != 2 {
		ts.Fatalf("usage: json POINTER VALUE, or ! json POINTER")
	}
	found, err := lookUp(ts, args[0])
	ts.Check(err)
	if text, is := found.(string); is && text == args[1] {
		return
	}
	var want any
	if json.Unmarshal([]byte(args[1]), &want) != nil || !reflect.DeepEqual(found, want) {
		ts.Fatalf("%s is %#v, not %s", args[0], found, args[1])
	}
}

// count compares the length of a list in the JSON text in stdout.
func count(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: count POINTER NUMBER")
	}
	found, err := lookUp(ts, args[0])
	ts.Check(err)
	list, is := found.([]any)
	if !is || strconv.Itoa(len(list)) != args[1] {
		ts.Fatalf("%s has %d items, not %s", args[0], len(list), args[1])
	}
}

// let sets a variable from the JSON text in stdout, or from a file.
func let(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: let NAME POINTER|FILE")
	}
	if !strings.HasPrefix(args[1], "/") {
		ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
		return
	}
	found, err := lookUp(ts, args[1])
	ts.Check(err)
	ts.Setenv(args[0], fmt.Sprint(found))
}

// lookUp follows a JSON pointer into the text in stdout.
func lookUp(ts *testscript.TestScript, pointer string) (any, error) {
	var value any
	if err := json.Unmarshal([]byte(ts.ReadFile("stdout")), &value); err != nil {
		return nil, fmt.Errorf("stdout is not JSON: %w", err)
	}
	if pointer == "/" { // the whole text; "" cannot be written in a script
		return value, nil
	}
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		var found bool
		if value, found = into(value, step); !found {
			return nil, fmt.Errorf("there is no %s at %q", pointer, step)
		}
	}
	return value, nil
}

// into follows one step of a pointer.
func into(value any, step string) (any, bool) {
	switch value := value.(type) {
	case map[string]any:
		member, found := value[strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")]
		return member, found
	case []any:
		if name, text, is := strings.Cut(strings.Trim(step, "[]"), "="); is {
			return itemWith(value, name, text)
		}
		index, err := strconv.Atoi(step)
		if err != nil || index < 0 || index >= len(value) {
			return nil, false
		}
		return value[index], true
	}
	return nil, false
}

// itemWith finds the first item whose member has a text.
func itemWith(list []any, name, text string) (any, bool) {
	for _, each := range list {
		if item, is := each.(map[string]any); is && item[name] == text {
			return each, true
		}
	}
	return nil, false
}
