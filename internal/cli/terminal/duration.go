package terminal

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Duration is the value of a flag that takes a duration. Besides Go's units it accepts days and weeks: 1d, 2w, 1d12h.
type Duration struct {
	value *time.Duration
	least time.Duration
}

// AddDuration adds a flag that takes a duration of at least one second.
func AddDuration(cmd *cobra.Command, value *time.Duration, name string, fallback time.Duration, usage string) {
	addDuration(cmd, value, name, fallback, time.Second, usage)
}

// AddPause adds a flag that takes a duration, which may be 0.
func AddPause(cmd *cobra.Command, value *time.Duration, name string, fallback time.Duration, usage string) {
	addDuration(cmd, value, name, fallback, 0, usage)
}

func addDuration(cmd *cobra.Command, value *time.Duration, name string, fallback, least time.Duration, usage string) {
	*value = fallback
	cmd.Flags().Var(&Duration{value, least}, name, usage)
	words := cobra.FixedCompletions([]string{"15m", "1h", "8h", "1d", "30d"}, cobra.ShellCompDirectiveNoFileComp)
	_ = cmd.RegisterFlagCompletionFunc(name, words) // it fails for flags that do not exist
}

// String returns the duration, or nothing for 0, which help texts then leave out.
func (d *Duration) String() string {
	if d.value == nil || *d.value == 0 {
		return ""
	}
	return DurationText(*d.value)
}

// Type returns the placeholder in help texts.
func (d *Duration) Type() string { return "DURATION" }

// Set reads a duration.
func (d *Duration) Set(text string) error {
	parsed, err := parseDuration(text)
	if err != nil && regexp.MustCompile(`^([0-9]+(\.[0-9]+)?(w|d|h|m|s|ms|us|µs|ns))+$`).MatchString(text) {
		return fmt.Errorf("it is too long: it must be at most %dd", math.MaxInt64/(24*time.Hour))
	}
	if err != nil {
		return fmt.Errorf("it must be a duration such as 30m, 8h, 1d or 2w")
	}
	if parsed < d.least {
		return fmt.Errorf("it must be at least %s", DurationText(d.least))
	}
	*d.value = parsed
	return nil
}

// parseDuration reads weeks and days as hours, and leaves the rest to the standard library.
func parseDuration(text string) (time.Duration, error) {
	hours := map[string]float64{"w": 7 * 24, "d": 24}
	long := regexp.MustCompile(`([0-9.]+)([wd])`)
	return time.ParseDuration(long.ReplaceAllStringFunc(text, func(part string) string {
		number, err := strconv.ParseFloat(part[:len(part)-1], 64)
		if err != nil {
			return part
		}
		return strconv.FormatFloat(number*hours[part[len(part)-1:]], 'f', -1, 64) + "h"
	}))
}

// DurationText returns a duration as people write it: 30m, 1h30m, 2d.
func DurationText(duration time.Duration) string {
	const day = 24 * time.Hour
	text := ""
	if days := duration / day; days > 0 {
		text = fmt.Sprintf("%dd", days)
		duration %= day
	}
	if duration == 0 && text != "" {
		return text
	}
	rest := duration.String()
	for _, unit := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(rest, unit) {
			rest = strings.TrimSuffix(rest, unit[1:])
		}
	}
	return text + rest
}
