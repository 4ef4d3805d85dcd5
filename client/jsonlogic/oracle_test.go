package jsonlogic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/client/internal/testenv"
)

const oracleDir = "testdata/oracle"

// oracle runs a script of a reference implementation over all lines in one process.
func oracle(t *testing.T, script string, lines []string) []string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		testenv.Skip(t, "the reference implementations need Node.js")
	}
	installOracle(t)
	cmd := exec.CommandContext(t.Context(), node, script)
	cmd.Dir = oracleDir
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n"))
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, &problems)
	}
	results := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(results) != len(lines) {
		t.Fatalf("%s answered %d of %d lines", script, len(results), len(lines))
	}
	return results
}

// installOracle installs the reference implementations, which needs the network, so only where no test may be skipped. It
// installs into another folder and renames it: two test processes may start at once.
func installOracle(t *testing.T) {
	t.Helper()
	modules := filepath.Join(oracleDir, "node_modules")
	if _, err := os.Stat(modules); err == nil {
		return
	}
	if !testenv.All() {
		testenv.Skip(t, "the reference implementations are not installed; SIGNALBOX_TEST_ALL=1 or make test installs them")
	}
	dir, err := os.MkdirTemp(oracleDir, "install-") //nolint:usetesting // it is renamed, which must not leave the file system
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join(oracleDir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "npm", "ci", "--no-audit", "--no-fund")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	err = os.Rename(filepath.Join(dir, "node_modules"), modules)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
}

// seed is fixed, so that a failure repeats; JSONLOGIC_SEED tries another.
func seed(t *testing.T) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(cmp.Or(os.Getenv("JSONLOGIC_SEED"), "20240607"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

type pair struct{ rule, data string }

// TestReference_GeneratedRules compares with json-logic-js over generated rules. The package's documentation, and excuse,
// list the allowed differences.
func TestReference_GeneratedRules(t *testing.T) {
	t.Parallel()
	g := newGenerator(seed(t))
	pairs := make([]pair, testenv.Scale(3000, 40_000))
	for i := range pairs {
		pairs[i] = pair{rule: g.rule(1 + g.IntN(4)), data: g.data()}
	}
	excused := compareWithReference(t, pairs)
	if excused > len(pairs)/50 {
		t.Errorf("%d of %d pairs are excused: the generator should avoid what is known to differ", excused, len(pairs))
	}
}

// TestReference_EdgeValues compares every operator on two values over pairs of edge values, each once as a variable and
// once as a literal. The short form takes every eighth value as the second.
func TestReference_EdgeValues(t *testing.T) {
	t.Parallel()
	values := edgeValues()
	var pairs []pair
	for i, b := range values {
		if i%testenv.Scale(8, 1) != 0 {
			continue
		}
		var rows []string
		for _, a := range values {
			rows = append(rows, `{"a":`+a+`,"b":`+b+`}`)
		}
		pairs = append(pairs, pair{rule: `{"map":[{"var":""},` + matrixRule(b) + `]}`, data: "[" + strings.Join(rows, ",") + "]"})
	}
	if excused := compareWithReference(t, pairs); excused > 0 {
		t.Errorf("%d pairs are excused", excused)
	}
}

func edgeValues() []string {
	values := []string{"null", "true", "false", "[]", "[null]", "[0]", "[1]", `["1"]`, `["a"]`, "[1,2]", `["a","b"]`, "[[1]]", "[[]]", "[[],[]]",
		"[true]", "{}", `{"a":1,"b":2}`, `{"length":1,"x":2}`}
	values = append(values, numberLiterals()...)
	for _, text := range textLiterals() {
		values = append(values, quote(text))
	}
	return values
}

func matrixRule(literal string) string {
	a, b := `{"var":"a"}`, `{"var":"b"}`
	operators := []string{"==", "===", "!=", "!==", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "max", "min", "in", "cat", "substr", "merge", "and"}
	parts := []string{`{"+":` + a + `}`, `{"-":` + a + `}`, `{"cat":` + a + `}`, `{"!":` + a + `}`, `{"substr":[` + b + `,0,` + a + `]}`}
	for _, op := range operators {
		for _, args := range []string{a + "," + b, a + "," + literal, literal + "," + a} {
			parts = append(parts, `{"`+op+`":[`+args+`]}`)
		}
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// compareWithReference reports every unexpected difference and returns the number of documented ones.
func compareWithReference(t *testing.T, pairs []pair) int {
	t.Helper()
	lines := make([]string, len(pairs))
	for i, p := range pairs {
		lines[i] = `{"rule":` + p.rule + `,"data":` + p.data + `}`
	}
	excused := map[string]int{}
	for i, want := range oracle(t, "reference.js", lines) {
		if got := ours(t, pairs[i]); got != want && got != canonical(t, want) {
			reason := excuse(pairs[i])
			if reason == "" {
				t.Errorf("rule %s\ndata %s\nours %s\nreference %s", pairs[i].rule, pairs[i].data, got, want)
			}
			excused[reason]++
		}
	}
	t.Logf("%d pairs, excused: %v", len(pairs), excused)
	return excused[inheritedMember] + excused[logicInData]
}

// ours evaluates in all three ways, which must agree, and encodes the result as the script does.
func ours(t *testing.T, p pair) string {
	t.Helper()
	r, err := Compile([]byte(p.rule))
	if err != nil {
		t.Fatalf("compile %s: %v", p.rule, err)
	}
	data := mustParse(t, p.data)
	v, err := r.Evaluate(data)
	decision := r.Decide(data)
	e, explained := r.Explain(data)
	if decision != explained || !errors.Is(decision.Err, err) || decision.Matched != (err == nil && v.Truthy()) {
		t.Errorf("rule %s\ndata %s\nEvaluate %v, %v\nDecide %+v\nExplain %+v", p.rule, p.data, v, err, decision, explained)
	}
	if err != nil {
		return "error"
	}
	if got := encode(orNull(v)); e.hasResult() && encode(e.Result) != got {
		t.Errorf("rule %s\ndata %s\nEvaluate %v\nExplain %v", p.rule, p.data, got, encode(e.Result))
	}
	return encode(v)
}

// encode writes a value as reference.js does.
func encode(v Value) string {
	switch v.Kind() {
	case KindUndefined:
		return `["undefined"]`
	case KindNumber:
		return encodeNumber(v.float())
	case KindArray:
		parts := []string{`["array"`}
		for _, item := range v.Items() {
			parts = append(parts, encode(item))
		}
		return strings.Join(parts, ",") + "]"
	case KindObject:
		members := slices.SortedFunc(slices.Values(v.Members()), func(a, b Member) int { return compareText(a.Key, b.Key) })
		parts := []string{`["object"`}
		for _, m := range members {
			parts = append(parts, "["+String(m.Key).json()+","+encode(m.Value)+"]")
		}
		return strings.Join(parts, ",") + "]"
	}
	return v.json()
}

func (v Value) json() string { return string(v.AppendJSON(nil)) }

func encodeNumber(f float64) string {
	switch {
	case f == 0 && 1/f < 0:
		return `["number","-0"]`
	case f-f != 0:
		return `["number","` + Number(f).String() + `"]`
	}
	return Number(f).json()
}

// canonical writes the script's line with our escapes; numbers keep JavaScript's spelling.
func canonical(t *testing.T, line string) string {
	t.Helper()
	if strings.HasPrefix(line, `{"error"`) {
		return "error"
	}
	var out bytes.Buffer
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	writeCanonical(&out, v)
	return out.String()
}

func writeCanonical(out *bytes.Buffer, v any) {
	list, ok := v.([]any)
	if !ok {
		if s, ok := v.(string); ok {
			out.WriteString(String(s).json())
			return
		}
		text, _ := json.Marshal(v)
		out.Write(text)
		return
	}
	out.WriteByte('[')
	for i, item := range list {
		if i > 0 {
			out.WriteByte(',')
		}
		writeCanonical(out, item)
	}
	out.WriteByte(']')
}

// The documented differences that generated rules can have.
const (
	inheritedMember = "inherited member"
	logicInData     = "logic in data"
)

// excuse returns the documented difference that a pair can have, or "".
func excuse(p pair) string {
	for _, name := range inherited() {
		if strings.Contains(p.rule, quote(name)) {
			return inheritedMember
		}
	}
	if strings.Contains(p.rule, `"missing`) && hasOneKeyObject(p.data) {
		return logicInData
	}
	return ""
}

func hasOneKeyObject(text string) bool {
	var walk func(v Value) bool
	walk = func(v Value) bool {
		for _, m := range v.Members() {
			if walk(m.Value) {
				return true
			}
		}
		return slices.ContainsFunc(v.Items(), walk) || len(v.Members()) == 1
	}
	v, err := Parse([]byte(text))
	return err == nil && walk(v)
}
