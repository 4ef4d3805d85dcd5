package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/signalbox/signalbox/internal/fault"
)

func TestError_Copies(t *testing.T) {
	t.Parallel()
	base := fault.New(fault.Validation, "name is %d too long", 3)
	placed := base.At(fault.Attribute("name")).With("maximum", 200).Because(errors.New("cause"))
	if base.Source.Kind != fault.NoSource || base.Meta != nil || base.Err != nil {
		t.Fatalf("the original changed: %+v", base)
	}
	if placed.Source.Path != "name" || placed.Meta["maximum"] != 200 {
		t.Fatalf("lost something: %+v", placed)
	}
	if got, want := placed.Error(), "validation_error: name is 3 too long: cause"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestIs_WrappedError(t *testing.T) {
	t.Parallel()
	wrapped := fmt.Errorf("saving: %w", fault.Missing("flag", "a"))
	if !fault.Is(wrapped, fault.NotFound) || fault.Is(wrapped, fault.Forbidden) {
		t.Error("Is does not see the code of a wrapped error")
	}
	if fault.Is(errors.New("other"), fault.NotFound) || fault.All(nil) != nil {
		t.Error("an unknown error has no code")
	}
}

func TestProblems_Take(t *testing.T) {
	t.Parallel()
	var problems, others fault.Problems
	others.Attribute("name", "must be a string")
	others.Attribute("level", "must be a level")
	if err := problems.Take(others.Err()); err != nil || len(fault.All(problems.Err())) != 2 {
		t.Errorf("got %v, %v", err, problems.Err())
	}
	for _, err := range []error{nil, errors.New("other"), fault.New(fault.Unavailable, "The database is away.")} {
		t.Run(fmt.Sprint(err), func(t *testing.T) {
			if got := problems.Take(err); !errors.Is(got, err) || len(fault.All(problems.Err())) != 2 {
				t.Errorf("got %v, %v", got, problems.Err())
			}
		})
	}
}

func TestProblems_EachPlaceOnce(t *testing.T) {
	t.Parallel()
	var problems fault.Problems
	if problems.Err() != nil {
		t.Fatal("no problem yet")
	}
	problems.Attribute("name", "must be a string")
	problems.Attribute("name", "must have 1 to 255 characters")
	if one, ok := errors.AsType[*fault.Error](problems.Err()); !ok || one.Detail != "name must be a string." {
		t.Fatalf("got %v, want the first problem alone", problems.Err())
	}
	problems.Attribute("color", "must be a hex color")
	all := fault.All(problems.Err())
	if len(all) != 2 || !problems.Mentions("color") {
		t.Fatalf("got %v, want both attributes", all)
	}
	problems.Attribute("items/a/type", "must be a string")
	for path, want := range map[string]bool{"items": true, "items/a": true, "items/a/type": true, "item": false, "items/a/value": false, "color": true} {
		t.Run(path, func(t *testing.T) {
			if problems.Within(path) != want {
				t.Errorf("Within(%q) is %v", path, !want)
			}
		})
	}
	if !fault.Is(fmt.Errorf("x: %w", problems.Err()), fault.Validation) {
		t.Error("Is does not look into several refusals")
	}
}

func TestProblems_AllAttributes(t *testing.T) {
	t.Parallel()
	var problems fault.Problems
	problems.Add(fault.New(fault.Validation, "The attributes are required.").At(fault.Attribute("")))
	problems.Attribute("name", "is required")
	problems.Add(fault.New(fault.Validation, "id is required.").At(fault.Pointer("/data/id")))
	if got := len(fault.All(problems.Err())); got != 2 || !problems.Mentions("name") {
		t.Errorf("got %d: %v", got, problems.Err())
	}
}

func TestEscape(t *testing.T) {
	t.Parallel()
	if got := fault.Escape("a/b~1c"); got != "a~1b~01c" {
		t.Errorf("got %q", got)
	}
}
