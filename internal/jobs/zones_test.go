package jobs

import (
	"archive/zip"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The listed names match the embedded time zone data.
func TestZoneNames_MatchData(t *testing.T) {
	t.Parallel()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	data, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	var want []string
	for _, file := range data.File {
		if !strings.HasSuffix(file.Name, "/") && file.Name != "Factory" {
			want = append(want, file.Name)
		}
	}
	slices.Sort(want)
	if got := strings.Fields(zoneNames); !slices.Equal(got, want) {
		t.Errorf("zones.txt has %d names, the data %d", len(got), len(want))
	}
}

func TestCheckZone(t *testing.T) {
	t.Parallel()
	for name, nearest := range map[string]string{
		"Europe/Berlin": "", "UTC": "", "America/Argentina/Buenos_Aires": "",
		"Europe/Berln": "Europe/Berlin", "europe/berlin": "Europe/Berlin", "Berlin": "Europe/Berlin", "new york": "America/New_York", "Local": "none", "+02:00": "none", "": "none",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule := checkZone(name)
			switch {
			case nearest == "" && rule != "":
				t.Errorf("refused: %s", rule)
			case nearest != "" && rule == "":
				t.Error("accepted")
			case nearest != "" && nearest != "none" && !strings.HasSuffix(rule, "; the nearest is "+nearest):
				t.Errorf("got %s", rule)
			}
		})
	}
}

func TestDue_FireInZone(t *testing.T) {
	t.Parallel()
	due := Due{Schedule: "30 2 * * *", Timezone: new("Europe/Berlin"), ScheduledAt: at(t, "2026-03-28T01:30:00Z")}
	zones := &Zones{}
	for _, want := range []string{"2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"} {
		firing := due.Fire(due.ScheduledAt, zones)
		if firing.Next == nil || !firing.Next.Equal(at(t, want)) {
			t.Fatalf("after %s it fires at %v, want %s", due.ScheduledAt, firing.Next, want)
		}
		if earlier := (Due{Schedule: due.Schedule, Timezone: due.Timezone, ScheduledAt: firing.Next.AddDate(0, 0, 7)}).Earlier(due.ScheduledAt, zones); earlier == nil || !earlier.Equal(*firing.Next) {
			t.Errorf("a review corrects it to %v", earlier)
		}
		due.ScheduledAt = *firing.Next
	}
	if zone := zones.Load(new("Nowhere/Else")); zone != time.UTC {
		t.Errorf("an unknown zone is %s", zone)
	}
}
