package naming_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/optional"
)

func TestIsKey(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"a": true, "7": true, "Z": true, "a.b_c-D9": true, strings.Repeat("k", 10): true,
		"": false, ".a": false, "-a": false, "_a": false, "a b": false, "a/b": false, "ä": false, "aä": false, "a\n": false, "a:b": false,
		strings.Repeat("k", 11): false,
	} {
		t.Run(fmt.Sprintf("%.40q", text), func(t *testing.T) {
			if got := naming.IsKey(text, 10); got != want {
				t.Errorf("IsKey(%q) = %v, want %v", text, got, want)
			}
		})
	}
}

func TestIsLabel(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"web": true, "a b/c": true, "ünïcödé": true, "": false, "a\x00": false, "tab\t": false, "a\u009b": false, "a\u202eb": false, "\u2066a": false, "\u2028": false, "\u200fא": true, "12345678": true, "123456789": false,
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			if got := naming.IsLabel(text, 8); got != want {
				t.Errorf("IsLabel(%q) = %v, want %v", text, got, want)
			}
		})
	}
}

func TestInPath(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{
		"/": false, ".": false, "..": false, "...": true, "//": true, "./": true, "a/..": true, "%2E": true, "a": true,
	} {
		t.Run(key, func(t *testing.T) {
			if got := naming.InPath(key); got != want {
				t.Errorf("InPath(%q) = %v, want %v", key, got, want)
			}
		})
	}
}

// TestCheckers tests the errors that callers read.
func TestCheckers(t *testing.T) {
	t.Parallel()
	absent, empty, long := optional.Value[string]{}, optional.Of(""), optional.Of(strings.Repeat("é", 6))
	for _, test := range []struct {
		name  string
		check func(*fault.Problems)
		want  string
	}{
		{"id absent", func(p *fault.Problems) { naming.CheckID(p, absent, 5, "flag") }, "id is required: it is the flag's key."},
		{"id wrong", func(p *fault.Problems) { naming.CheckID(p, long, 5, "flag") }, "id must be 1 to 5 letters, digits, dots, underscores or hyphens and start with a letter or digit."},
		{"id right", func(p *fault.Problems) { naming.CheckID(p, optional.Of("abc"), 5, "flag") }, ""},
		{"name absent", func(p *fault.Problems) { naming.CheckName(p, absent, 5) }, ""},
		{"name null", func(p *fault.Problems) { naming.CheckName(p, optional.Null[string](), 5) }, ""},
		{"name empty", func(p *fault.Problems) { naming.CheckName(p, empty, 5) }, "name must have 1 to 5 characters."},
		{"name long", func(p *fault.Problems) { naming.CheckName(p, long, 5) }, "name must have 1 to 5 characters."},
		{"name counted in characters", func(p *fault.Problems) { naming.CheckName(p, long, 6) }, ""},
		{"name required", func(p *fault.Problems) { naming.RequireName(p, absent, 5) }, "name is required and must have 1 to 5 characters."},
		{"name required, empty", func(p *fault.Problems) { naming.RequireName(p, empty, 5) }, "name must have 1 to 5 characters."},
		{"name with an escape", func(p *fault.Problems) { naming.CheckName(p, optional.Of("a\x1b"), 5) }, "name must not contain U+001B, a control character."},
		{"name with a line break", func(p *fault.Problems) { naming.CheckName(p, optional.Of("a\n"), 5) }, "name must not contain U+000A, a control character."},
		{"name with a C1 control", func(p *fault.Problems) { naming.RequireName(p, optional.Of("a\u009b"), 5) }, "name must not contain U+009B, a control character."},
		{"name with an override", func(p *fault.Problems) { naming.CheckName(p, optional.Of("\u202ea"), 5) }, "name must not contain U+202E, which changes the order in which text is shown."},
		{"name with an isolate", func(p *fault.Problems) { naming.CheckName(p, optional.Of("a\u2067"), 5) }, "name must not contain U+2067, which changes the order in which text is shown."},
		{"name with a separator", func(p *fault.Problems) { naming.CheckName(p, optional.Of("a\u2028b"), 5) }, "name must not contain U+2028, a line break."},
		{"name with a mark", func(p *fault.Problems) { naming.CheckName(p, optional.Of("א\u200fa"), 5) }, ""},
		{"name with an emoji", func(p *fault.Problems) { naming.CheckName(p, optional.Of("👩\u200d🚒"), 5) }, ""},
		{"description of lines", func(p *fault.Problems) { naming.CheckDescription(p, "description", "a\n\tb\r\nc", 9) }, ""},
		{"description with an escape", func(p *fault.Problems) { naming.CheckDescription(p, "description", "a\x1b", 5) }, "description must not contain U+001B, a control character."},
		{"description that goes back", func(p *fault.Problems) { naming.CheckDescription(p, "description", "a\rb", 5) }, "description must not contain U+000D, a control character."},
		{"description with an override", func(p *fault.Problems) { naming.CheckDescription(p, "description", "\u202d", 5) }, "description must not contain U+202D, which changes the order in which text is shown."},
		{"description", func(p *fault.Problems) { naming.CheckDescription(p, "description", "123456", 5) }, "description must have at most 5 characters."},
		{"no description", func(p *fault.Problems) { naming.CheckDescription(p, "description", "", 5) }, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var problems fault.Problems
			test.check(&problems)
			got := ""
			if err := problems.Err(); err != nil {
				got = strings.TrimPrefix(err.Error(), "validation_error: ")
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
