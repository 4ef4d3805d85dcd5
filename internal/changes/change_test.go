package changes_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
)

// recorder keeps the recorded changes, or refuses to record.
type recorder struct {
	account  string
	recorded []changes.Change
	calls    int
	err      error
}

func (r *recorder) RecordChanges(_ context.Context, account string, made ...changes.Change) error {
	r.account = account
	r.recorded = append(r.recorded, made...)
	r.calls++
	return r.err
}

// thing is a resource with a secret.
type thing struct {
	Name   string `json:"name"`
	Secret string `json:"-"`
}

func TestRecord_ActionFollowsFromDocuments(t *testing.T) {
	t.Parallel()
	actor := changes.Actor{Type: changes.ActorKey, ID: "k", Name: "Key"}
	a, b := &thing{Name: "a", Secret: "hidden"}, &thing{Name: "b"}
	for name, each := range map[string]struct {
		before, after *thing
		want          changes.Change
	}{
		"a creation": {nil, a, changes.Change{Action: changes.Created, After: json.RawMessage(`{"name":"a"}`)}},
		"an update":  {a, b, changes.Change{Action: changes.Updated, Before: json.RawMessage(`{"name":"a"}`), After: json.RawMessage(`{"name":"b"}`)}},
		"a deletion": {a, nil, changes.Change{Action: changes.Deleted, Before: json.RawMessage(`{"name":"a"}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tx := &recorder{}
			if err := changes.Record(t.Context(), tx, "account", actor, "thing", "key", each.before, each.after); err != nil {
				t.Fatal(err)
			}
			each.want.Kind, each.want.Key, each.want.Actor = "thing", "key", actor
			if diff := cmp.Diff([]changes.Change{each.want}, tx.recorded); diff != "" || tx.account != "account" {
				t.Errorf("recorded for %q (-want +got):\n%s", tx.account, diff)
			}
		})
	}
}

func TestRecordAs_NamedAction(t *testing.T) {
	t.Parallel()
	tx := &recorder{}
	same := &thing{Name: "a"}
	if err := changes.RecordAs(t.Context(), tx, "account", changes.Operator(), changes.Revoked, "thing", "key", same, same); err != nil {
		t.Fatal(err)
	}
	if got := tx.recorded[0]; got.Action != changes.Revoked || got.Actor.Type != changes.ActorOperator {
		t.Errorf("got %+v", got)
	}
}

func TestRecordEach_OneChangePerResource(t *testing.T) {
	t.Parallel()
	const many = 3000
	edits := make([]changes.Edit[thing], many)
	for i := range edits {
		edits[i] = changes.Edit[thing]{Key: strconv.Itoa(i), After: &thing{Name: strconv.Itoa(i)}}
		if i%2 == 1 {
			edits[i].Before = &thing{Name: "before"}
		}
	}
	tx := &recorder{}
	if err := changes.RecordEach(t.Context(), tx, "account", changes.System(), "", "thing", edits); err != nil {
		t.Fatal(err)
	}
	if len(tx.recorded) != many || tx.calls > many/100 || tx.account != "account" {
		t.Fatalf("%d changes were recorded for %q with %d calls", len(tx.recorded), tx.account, tx.calls)
	}
	for i, got := range tx.recorded {
		want := changes.Change{Kind: "thing", Key: strconv.Itoa(i), Action: changes.Created, Actor: changes.System(),
			After: json.RawMessage(`{"name":"` + strconv.Itoa(i) + `"}`)}
		if i%2 == 1 {
			want.Action, want.Before = changes.Updated, json.RawMessage(`{"name":"before"}`)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("differs (-want +got):\n%s", diff)
		}
	}
	tx = &recorder{err: errors.New("full")}
	if err := changes.RecordEach(t.Context(), tx, "account", changes.System(), changes.Cascaded, "thing", edits); !errors.Is(err, tx.err) || tx.calls != 1 {
		t.Errorf("got %v after %d calls", err, tx.calls)
	}
	if err := changes.RecordEach[thing](t.Context(), tx, "account", changes.System(), "", "thing", nil); err != nil {
		t.Errorf("no edits got %v", err)
	}
}

func TestRecord_UnencodableDocument(t *testing.T) {
	t.Parallel()
	tx := &recorder{}
	endless := func() {}
	for _, err := range []error{
		changes.Record(t.Context(), tx, "account", changes.Operator(), "thing", "key", nil, &endless),
		changes.Record(t.Context(), tx, "account", changes.Operator(), "thing", "key", &endless, nil),
	} {
		if err == nil || len(tx.recorded) > 0 {
			t.Errorf("got %v and recorded %v", err, tx.recorded)
		}
	}
}

func TestMatch_DecidesWrite(t *testing.T) {
	t.Parallel()
	for name, each := range map[string]struct {
		match   changes.Match[thing]
		refused bool
	}{
		"nobody asks":     {nil, false},
		"it matches":      {func(current thing) bool { return current.Name == "stored" }, false},
		"it is another":   {func(current thing) bool { return current.Name == "read" }, true},
		"it never can be": {func(thing) bool { return false }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for kind, write := range writes() {
				t.Run(kind, func(t *testing.T) {
					tx, touched := &recorder{}, false
					err := write(t.Context(), tx, target(each.match, nil), func() error {
						touched = true
						return nil
					})
					if fault.Is(err, fault.VersionMismatch) != each.refused || touched == each.refused || (len(tx.recorded) == 1) == each.refused {
						t.Errorf("%v, touched %v, recorded %d", err, touched, len(tx.recorded))
					}
				})
			}
		})
	}
}

func TestReplaceAndDelete_FailedWriteRecordsNothing(t *testing.T) {
	t.Parallel()
	gone, full := fault.Missing("thing", "key"), errors.New("full")
	for kind, write := range writes() {
		t.Run(kind, func(t *testing.T) {
			tx := &recorder{}
			if err := write(t.Context(), tx, target(nil, gone), func() error { return nil }); !fault.Is(err, fault.NotFound) {
				t.Errorf("%s of a missing resource got %v", kind, err)
			}
			if err := write(t.Context(), tx, target(nil, nil), func() error { return full }); !errors.Is(err, full) {
				t.Errorf("%s got %v", kind, err)
			}
			if len(tx.recorded) > 0 {
				t.Errorf("%s recorded %v", kind, tx.recorded)
			}
			tx.err = full
			if err := write(t.Context(), tx, target(nil, nil), func() error { return nil }); !errors.Is(err, full) {
				t.Errorf("%s without a record got %v", kind, err)
			}
		})
	}
}

func TestReplace_ReturnsNewState(t *testing.T) {
	t.Parallel()
	tx := &recorder{}
	after, err := changes.Replace(t.Context(), tx, target(nil, nil), func(before thing) (thing, error) {
		return thing{Name: before.Name + " and more"}, nil
	}, func(_, _ thing) error { return nil })
	if err != nil || after.Name != "stored and more" || string(tx.recorded[0].Before) != `{"name":"stored"}` {
		t.Errorf("got %v, %v, recorded %v", after, err, tx.recorded)
	}
}

func target(match changes.Match[thing], err error) changes.Target[thing] {
	return changes.Target[thing]{Account: "account", Actor: changes.Operator(), Kind: "thing", Key: "key", Match: match,
		Load: func() (thing, error) { return thing{Name: "stored"}, err }}
}

// writes returns the two kinds of writes.
func writes() map[string]func(context.Context, changes.Recorder, changes.Target[thing], func() error) error {
	return map[string]func(context.Context, changes.Recorder, changes.Target[thing], func() error) error{
		"a replace": func(ctx context.Context, tx changes.Recorder, target changes.Target[thing], do func() error) error {
			_, err := changes.Replace(ctx, tx, target, func(before thing) (thing, error) { return thing{Name: before.Name + " and more"}, nil },
				func(_, _ thing) error { return do() })
			return err
		},
		"a deletion": func(ctx context.Context, tx changes.Recorder, target changes.Target[thing], do func() error) error {
			return changes.Delete(ctx, tx, target, func(thing) error { return do() })
		},
	}
}

// timed is a resource with a time and with a member that the history does not show.
type timed struct {
	Name      string          `json:"name"`
	Value     json.RawMessage `json:"value"`
	Hidden    string          `json:"-"`
	UpdatedAt time.Time       `json:"updated_at"`
}

func TestReplace_Repetition(t *testing.T) {
	t.Parallel()
	stored := timed{Name: "n", Value: json.RawMessage(`{"updated_at": 1}`), Hidden: "h", UpdatedAt: time.Unix(1, 0)}
	for name, each := range map[string]struct {
		change  func(*timed)
		revert  bool
		written bool
	}{
		"the same":             {func(*timed) {}, false, false},
		"in other spaces":      {func(after *timed) { after.Value = json.RawMessage(`{"updated_at":1}`) }, false, false},
		"another name":         {func(after *timed) { after.Name = "m" }, false, true},
		"a member like a time": {func(after *timed) { after.Value = json.RawMessage(`{"updated_at": 2}`) }, false, true},
		"something hidden":     {func(after *timed) { after.Hidden = "g" }, false, true},
		"a revert to the same": {func(*timed) {}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tx, saved := &recorder{}, false
			target := changes.Target[timed]{Account: "account", Actor: changes.Operator(), Kind: "timed", Key: "key",
				Load:   func() (timed, error) { return stored, nil },
				Hidden: func(before, after timed) bool { return before.Hidden != after.Hidden }}
			if each.revert {
				target.Actor.Reverts = changes.Reverted{Kind: "timed", Key: "key", Seq: 1}
			}
			after, err := changes.Replace(t.Context(), tx, target, func(after timed) (timed, error) {
				after.UpdatedAt = time.Unix(2, 0)
				each.change(&after)
				return after, nil
			}, func(_, _ timed) error {
				saved = true
				return nil
			})
			if err != nil || saved != each.written || (len(tx.recorded) == 1) != each.written {
				t.Errorf("%v, saved %v, recorded %v", err, saved, tx.recorded)
			}
			if moved := !after.UpdatedAt.Equal(stored.UpdatedAt); moved != each.written {
				t.Errorf("the time is %s", after.UpdatedAt)
			}
		})
	}
}
