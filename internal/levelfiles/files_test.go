package levelfiles_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/levelfiles"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key, display string
		spellings    []string
		want         string
	}{
		{"com.example.shop", "com.example.shop", nil, "com.example.shop"},
		{"com.example.shop", "com.example.Shop", nil, "com.example.Shop"},
		{"com.example.shop", "The shop", nil, "com.example.shop"},
		{"com.example.shop", "com.example.Shop", []string{"com/example/Shop", "com.EXAMPLE.shop"}, "com/example/Shop com.EXAMPLE.shop"},
		{"a", "", strings.Fields("A á b c d e"), "A á b c"},
	} {
		t.Run(c.display, func(t *testing.T) {
			if got := strings.Join(levelfiles.Names(c.key, c.display, c.spellings), " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestFormats_EveryLevel: each format has a word for each level, and one for a logger that inherits, or no line.
func TestFormats_EveryLevel(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"logback.properties": "INHERITED TRACE DEBUG INFO WARN ERROR ERROR OFF",
		"log4j2.xml":         "- TRACE DEBUG INFO WARN ERROR FATAL OFF",
		"log4j2.json":        "- TRACE DEBUG INFO WARN ERROR FATAL OFF",
		"levels.json":        "- TRACE DEBUG INFO WARN ERROR FATAL SILENT",
		"python.json":        "NOTSET 5 DEBUG INFO WARNING ERROR CRITICAL 100",
	}
	for _, format := range levelfiles.Formats() {
		t.Run(format.Name, func(t *testing.T) {
			words := strings.Fields(want[format.Name])
			for i, level := range slices.Concat([]loglevel.Level{loglevel.None}, loglevel.Levels()) {
				text := format.Write([]levelfiles.Logger{{Names: []string{"shop"}, Level: level}}, levelfiles.Options{Interval: time.Second})
				listed := bytes.Contains(text, []byte("shop"))
				if words[i] == "-" && listed || words[i] != "-" && (!listed || !bytes.Contains(text, []byte(words[i]))) {
					t.Errorf("%q: got %s, want %s", level, text, words[i])
				}
			}
		})
	}
}

// The comment of the Logback file is all that the window changes.
func TestLogback_Window(t *testing.T) {
	t.Parallel()
	loggers := []levelfiles.Logger{{Names: []string{"shop"}, Level: loglevel.Debug}}
	first := levelfiles.Logback(loggers, levelfiles.Options{Window: time.Unix(0, 0)})
	second := levelfiles.Logback(loggers, levelfiles.Options{Window: time.Unix(300, 0)})
	if bytes.Equal(first, second) || !bytes.HasSuffix(first, []byte("Z\nlogback.logger.shop=DEBUG\n")) {
		t.Errorf("got %s, %s", first, second)
	}
}
