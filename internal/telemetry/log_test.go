package telemetry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/signalbox/signalbox/internal/suite"
)

var stamp = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`)

// logged writes one JSON line and returns the decoded line.
func logged(t *testing.T, write func(*slog.Logger)) map[string]any {
	t.Helper()
	var out bytes.Buffer
	write(NewLogger(&out, "debug", "json"))
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("%v in %q", err, out.String())
	}
	return line
}

func TestLogger_JSONLine(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 2, 3, 4, 5, 6, 7000, time.FixedZone("", 3600))
	line := logged(t, func(l *slog.Logger) { l.Info("hello", "n", 1, "at", at) })
	if line["level"] != "INFO" || line["msg"] != "hello" || line["n"] != 1.0 || line["at"] != "2026-02-03T03:05:06.000007Z" {
		t.Errorf("got %v", line)
	}
	if text, _ := line["time"].(string); !stamp.MatchString(text) {
		t.Errorf("time = %q", text)
	}
	if _, ok := line["request_id"]; ok {
		t.Error("a line outside of requests has a request_id")
	}
}

func TestLogger_Formats(t *testing.T) {
	t.Parallel()
	tests := []struct {
		format string
		json   bool
	}{{"json", true}, {"text", false}, {"auto", true}, {"", true}}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%q", tt.format), func(t *testing.T) {
			var out bytes.Buffer
			NewLogger(&out, "info", tt.format).Info("hello")
			if json.Valid(out.Bytes()) != tt.json {
				t.Errorf("%q writes %s", tt.format, out.String())
			}
			if text, ok := strings.CutPrefix(out.String(), "time="); !tt.json && (!ok || !stamp.MatchString(strings.Fields(text)[0])) {
				t.Errorf("%q writes %s", tt.format, out.String())
			}
		})
	}
}

func TestLogger_AutoOnTerminal(t *testing.T) {
	t.Parallel()
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		suite.Skip(t, "This needs a pseudo-terminal, and none can be opened: "+err.Error())
	}
	defer func() { _ = tty.Close() }()
	file, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	handler := NewLogger(tty, "info", "auto").Handler().(*contextHandler).root
	if _, text := handler.(*slog.TextHandler); !text || IsTerminal(file) || IsTerminal(io.Discard) {
		t.Errorf("a terminal gets %T", handler)
	}
}

func TestLogger_Levels(t *testing.T) {
	t.Parallel()
	tests := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError, "?": slog.LevelInfo}
	for name, least := range tests {
		t.Run(name, func(t *testing.T) {
			l := NewLogger(io.Discard, name, "json")
			if !l.Enabled(t.Context(), least) || l.Enabled(t.Context(), least-1) {
				t.Errorf("%q does not begin at %v", name, least)
			}
		})
	}
}

func TestLogger_RequestIDAtTopLevel(t *testing.T) {
	t.Parallel()
	ctx := WithRequestID(t.Context(), "r-1")
	tests := map[string]func(*slog.Logger) *slog.Logger{
		"plain":       func(l *slog.Logger) *slog.Logger { return l },
		"attributes":  func(l *slog.Logger) *slog.Logger { return l.With("a", 1) },
		"empty group": func(l *slog.Logger) *slog.Logger { return l.WithGroup("") },
		"groups":      func(l *slog.Logger) *slog.Logger { return l.With("a", 1).WithGroup("g").With("b", 2).WithGroup("h") },
	}
	for name, derive := range tests {
		t.Run(name, func(t *testing.T) {
			line := logged(t, func(l *slog.Logger) { derive(l).InfoContext(ctx, "hello", "c", 3) })
			if line["request_id"] != "r-1" {
				t.Error(line)
			}
		})
	}
	line := logged(t, func(l *slog.Logger) { tests["groups"](l).InfoContext(ctx, "hello", "c", 3) })
	group, _ := line["g"].(map[string]any)
	inner, _ := group["h"].(map[string]any)
	if line["a"] != 1.0 || group["b"] != 2.0 || inner["c"] != 3.0 {
		t.Errorf("the groups are not nested: %v", line)
	}
}

func TestLogger_DerivedLoggers(t *testing.T) {
	t.Parallel()
	base := NewLogger(io.Discard, "info", "json").WithGroup("g")
	one := base.With("a", 1).Handler().(*contextHandler)
	two := base.With("b", 2).Handler().(*contextHandler)
	if &one.grouped[0] == &two.grouped[0] && len(one.grouped) == len(two.grouped) {
		t.Error("two loggers derived from one share their steps")
	}
}

func TestLogger_TraceIDWhileRecording(t *testing.T) {
	t.Parallel()
	for _, sampler := range []sdktrace.Sampler{sdktrace.AlwaysSample(), sdktrace.NeverSample()} {
		t.Run(sampler.Description(), func(t *testing.T) {
			provider := sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler))
			ctx, span := provider.Tracer("test").Start(t.Context(), "work")
			line := logged(t, func(l *slog.Logger) { l.InfoContext(ctx, "hello") })
			id, found := line["trace_id"]
			if found != span.IsRecording() || found && id != span.SpanContext().TraceID().String() {
				t.Errorf("%v", line)
			}
		})
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	if id := RequestID(t.Context()); id != "" {
		t.Errorf("an empty context has the id %q", id)
	}
	if id := RequestID(WithRequestID(WithRequestID(t.Context(), "a"), "b")); id != "b" {
		t.Errorf("id = %q", id)
	}
}

func TestLogger_Concurrent(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := NewLogger(&out, "info", "json").WithGroup("g")
	ctx := WithRequestID(t.Context(), "r")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				l.With("a", 1).InfoContext(ctx, "hello", "b", 2)
			}
		})
	}
	wg.Wait()
	for line := range strings.Lines(out.String()) {
		if !json.Valid([]byte(line)) {
			t.Fatalf("broken line %q", line)
		}
	}
}
