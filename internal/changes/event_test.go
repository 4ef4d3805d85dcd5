package changes_test

import (
	"os"
	"path"
	"strings"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/jobs"
)

func TestChange_Event(t *testing.T) {
	t.Parallel()
	for _, each := range []struct {
		kind, key string
		action    changes.Action
		want      string
	}{
		{"flag", "f", changes.Created, "flag_changed"},
		{"flag", "f", changes.Updated, "flag_changed"},
		{"flag", "f", changes.Deleted, "flag_deleted"},
		{"flag", "f", changes.Cascaded, ""},
		{"flag", changes.AllKeys, changes.Discovered, "flags_changed"},
		{"flag", changes.AllKeys, changes.Cascaded, "flags_changed"},
		{"config", "c", changes.Created, "config_changed"},
		{"config", "c", changes.Deleted, "config_deleted"},
		{"config", changes.AllKeys, changes.Cascaded, "configs_changed"},
		{"logger", "l", changes.Expired, "logger_changed"},
		{"logger", "l", changes.Deleted, "logger_deleted"},
		{"logger", changes.AllKeys, changes.Cascaded, "loggers_changed"},
		{"log_group", "g", changes.Updated, "group_changed"},
		{"log_group", "g", changes.Deleted, "group_deleted"},
		{"environment", "e", changes.Updated, ""},
		{"job", "j", changes.Deleted, ""},
	} {
		t.Run(each.kind+" "+each.key, func(t *testing.T) {
			change := changes.Change{Kind: each.kind, Key: each.key, Action: each.action}
			if got := change.Event(); got != each.want {
				t.Errorf("%s %s %s is %q, want %q", each.kind, each.key, each.action, got, each.want)
			}
		})
	}
}

func TestChange_OtherEvent(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string][2]string{
		"job": {"job_changed", "job_deleted"}, "environment": {"environment_changed", "environment_deleted"},
		"api_key": {"api_key_changed", "api_key_changed"}, "user": {"user_changed", "user_changed"}, "flag": {}, "service": {},
	} {
		t.Run(kind, func(t *testing.T) {
			for i, action := range []changes.Action{changes.Created, changes.Deleted} {
				if got := (changes.Change{Kind: kind, Key: "k", Action: action}).OtherEvent(); got != want[i] {
					t.Errorf("%s %s is %q, want %q", kind, action, got, want[i])
				}
			}
		})
	}
}

func TestChange_HealthEvent(t *testing.T) {
	t.Parallel()
	for action, want := range map[changes.Action]string{
		jobs.Failing: signalbox.EventJobFailing, jobs.Late: signalbox.EventJobLate, jobs.Recovered: signalbox.EventJobRecovered,
	} {
		t.Run(want, func(t *testing.T) {
			if got := (changes.Change{Kind: jobs.KindHealth, Key: "k", Action: action}).OtherEvent(); got != want {
				t.Errorf("%s is %q, want %q", action, got, want)
			}
		})
	}
}

// TestEvents_Documented checks that the event protocol and the description of the interface mention every event.
func TestEvents_Documented(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"../../docs/events.md", "../../openapi/openapi.yaml"} {
		t.Run(path.Base(file), func(t *testing.T) {
			page, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{
				signalbox.EventFlagChanged, signalbox.EventFlagDeleted, signalbox.EventFlagsChanged,
				signalbox.EventConfigChanged, signalbox.EventConfigDeleted, signalbox.EventConfigsChanged,
				signalbox.EventLoggerChanged, signalbox.EventLoggerDeleted, signalbox.EventLoggersChanged,
				signalbox.EventGroupChanged, signalbox.EventGroupDeleted,
				signalbox.EventJobChanged, signalbox.EventJobDeleted, signalbox.EventJobFailing, signalbox.EventJobLate, signalbox.EventJobRecovered,
				signalbox.EventEnvironmentChanged, signalbox.EventEnvironmentDeleted, signalbox.EventKeyChanged, signalbox.EventUserChanged,
			} {
				if !strings.Contains(string(page), "`"+name+"`") {
					t.Errorf("it does not mention %s", name)
				}
			}
		})
	}
}

func TestRecordSeveral_NothingWithoutKeys(t *testing.T) {
	t.Parallel()
	tx := &recorder{}
	for _, keys := range [][]string{nil, {"a", "b"}} {
		several := changes.Several{Keys: keys, Cause: "environment:qa"}
		if err := changes.RecordSeveral(t.Context(), tx, "account", changes.Operator(), changes.Cascaded, "flag", several); err != nil {
			t.Fatal(err)
		}
	}
	if len(tx.recorded) != 1 || string(tx.recorded[0].After) != `{"keys":["a","b"],"cause":"environment:qa"}` || tx.recorded[0].Key != changes.AllKeys {
		t.Errorf("recorded %+v", tx.recorded)
	}
}
