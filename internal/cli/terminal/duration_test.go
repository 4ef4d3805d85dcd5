package terminal_test

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func TestDuration_TooLong(t *testing.T) {
	t.Parallel()
	var got time.Duration
	cmd := &cobra.Command{}
	terminal.AddDuration(cmd, &got, "for", 0, "")
	err := cmd.Flags().Parse([]string{"--for=1000000d"})
	if err == nil || !strings.Contains(err.Error(), "it is too long: it must be at most 106751d") {
		t.Errorf("got %v", err)
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		want time.Duration // 0 is refused
		text string
	}{
		"30m":    {30 * time.Minute, "30m"},
		"90m":    {90 * time.Minute, "1h30m"},
		"1d":     {24 * time.Hour, "1d"},
		"1d12h":  {36 * time.Hour, "1d12h"},
		"2w":     {14 * 24 * time.Hour, "14d"},
		"0.5d":   {12 * time.Hour, "12h"},
		"45s":    {45 * time.Second, "45s"},
		"1h0m5s": {time.Hour + 5*time.Second, "1h0m5s"},
		"720h":   {720 * time.Hour, "30d"},
		"0s":     {},
		"-1h":    {},
		"soon":   {},
		"1":      {},
		"d":      {},
		"1.2.3d": {},
	}
	for given, test := range tests {
		t.Run(given, func(t *testing.T) {
			t.Parallel()
			var got time.Duration
			cmd := &cobra.Command{}
			terminal.AddDuration(cmd, &got, "for", 0, "")
			err := cmd.Flags().Parse([]string{"--for=" + given})
			if (err != nil) != (test.want == 0) || got != test.want {
				t.Errorf("got %s, %v", got, err)
			}
			if text := terminal.DurationText(got); err == nil && text != test.text {
				t.Errorf("it is shown as %q", text)
			}
		})
	}
}

func TestPause_MayBeNothing(t *testing.T) {
	t.Parallel()
	got := time.Hour
	cmd := &cobra.Command{}
	terminal.AddPause(cmd, &got, "overlap", time.Hour, "")
	if err := cmd.Flags().Parse([]string{"--overlap=0s"}); err != nil || got != 0 {
		t.Errorf("got %s, %v", got, err)
	}
}
