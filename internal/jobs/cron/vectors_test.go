package cron_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/jobs/cron"
)

// sharedFile opens a file of the folder `shared` that stands beside the project, when there is one.
func sharedFile(t *testing.T, name string) *os.File {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for dir != filepath.Dir(dir) {
		if file, err := os.Open(filepath.Join(dir, "shared", name)); err == nil {
			t.Cleanup(func() { file.Close() })
			return file
		}
		dir = filepath.Dir(dir)
	}
	return nil
}

// vector is an expression, an instant and the fire times that follow it by Debian's rules; none when it never fires.
type vector struct {
	Expr  string
	After time.Time
	Next  []string
}

// TestSchedule_SharedVectors reads the public vectors if they are beside the project. Without them TestSchedule_Next has
// cases of every form, and TestSchedule_NextMatchesOracle and TestSchedule_NextMatchesPeer draw others.
func TestSchedule_SharedVectors(t *testing.T) {
	file := sharedFile(t, "vectors/cron.jsonl")
	if file == nil {
		t.Log("the vectors are not beside the project")
		return
	}
	count := 0
	for lines := bufio.NewScanner(file); lines.Scan(); count++ {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		v.check(t)
	}
	if count < 500 {
		t.Errorf("only %d vectors", count)
	}
}

func (v vector) check(t *testing.T) {
	t.Helper()
	schedule, err := cron.Parse(v.Expr)
	if len(v.Next) == 0 {
		if err == nil {
			t.Errorf("%q never fires and was accepted", v.Expr)
		}
		return
	}
	if err != nil {
		t.Errorf("%q: %v", v.Expr, err)
		return
	}
	at := v.After
	for _, want := range v.Next {
		next, ok := schedule.Next(at)
		if got := next.Format("2006-01-02T15:04Z07:00"); !ok || got != want {
			t.Errorf("%q after %v: %s, want %s", v.Expr, at, got, want)
			return
		}
		if last, ok := schedule.Latest(next.Add(59 * time.Second)); !ok || !last.Equal(next) {
			t.Errorf("%q up to %v: %v, want the instant itself", v.Expr, next, last)
		}
		at = next
	}
}

// TestParse_SharedInvalidExpressions reads the public vectors if they are beside the project. Without them
// TestParse_ErrorNamesFieldAndRule has cases of every rule.
func TestParse_SharedInvalidExpressions(t *testing.T) {
	file := sharedFile(t, "vectors/cron-invalid.json")
	if file == nil {
		t.Log("the vectors are not beside the project")
		return
	}
	var expressions []string
	if err := json.NewDecoder(file).Decode(&expressions); err != nil {
		t.Fatal(err)
	}
	for _, expr := range expressions {
		t.Run(expr, func(t *testing.T) {
			if _, err := cron.Parse(expr); err == nil {
				t.Errorf("%q was accepted", expr)
			}
		})
	}
}
