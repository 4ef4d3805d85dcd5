package demo

import (
	"bytes"
	"context"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// TestMain makes the test binary one of the programs when the demo starts it as such.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && slices.ContainsFunc(programs(), func(p program) bool { return p.name == os.Args[1] }) {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		if err := RunProgram(ctx, os.Args[1], os.Stdout); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// TestDemo checks that a demo is full, that its programs do what they are told, and that it leaves nothing behind.
func TestDemo(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	printed, clients := &output{}, make(chan *signalbox.Client, 1)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{Out: printed, Program: os.Args[0], Listen: "127.0.0.1:0", Ready: func(url, key string) {
			client, err := signalbox.New(url, key)
			if err != nil {
				panic(err)
			}
			clients <- client
		}})
	}()
	select {
	case client := <-clients:
		checkFull(t, client)
		checkConnected(t, client, printed)
	case err := <-ended:
		t.Fatalf("the demo ended: %v\n%s", err, printed)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("Run = %v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("the demo left %v, %v", left, err)
	}
}

func checkFull(t *testing.T, client *signalbox.Client) {
	t.Helper()
	ctx := t.Context()
	settings, err := client.Account.Settings(ctx)
	if want := []string{"development", "staging", "production"}; err != nil || !slices.Equal(settings.EnvironmentOrder, want) {
		t.Errorf("the environments are in the order %v, %v; want %v", settings.EnvironmentOrder, err, want)
	}
	count := func(what string, atLeast int, pages func(signalbox.Paging) (int, error)) {
		t.Helper()
		if total, err := pages(signalbox.Paging{Size: 1000}); err != nil || total < atLeast {
			t.Errorf("%d %s, %v; want %d or more", total, what, err, atLeast)
		}
	}
	count("flags", 40, func(p signalbox.Paging) (int, error) {
		found, err := client.Flags.List(ctx, signalbox.FlagParams{Paging: p})
		return len(found.Items), err
	})
	count("loggers", 200, func(p signalbox.Paging) (int, error) {
		found, err := client.Loggers.List(ctx, signalbox.LoggerParams{Paging: p})
		return len(found.Items), err
	})
	count("configs", 8, func(p signalbox.Paging) (int, error) {
		found, err := client.Configs.List(ctx, signalbox.ConfigParams{Paging: p})
		return len(found.Items), err
	})
	count("jobs", 12, func(p signalbox.Paging) (int, error) {
		found, err := client.Jobs.List(ctx, signalbox.JobParams{Paging: p})
		return len(found.Items), err
	})
	count("runs", 500, func(signalbox.Paging) (total int, err error) {
		for _, err := range client.Runs.All(ctx, signalbox.RunParams{}) {
			if err != nil {
				return total, err
			}
			total++
		}
		return total, nil
	})
}

// checkConnected sets a level that makes every logger of a program speak, and waits until it does.
func checkConnected(t *testing.T, client *signalbox.Client, printed *output) {
	t.Helper()
	storetest.Wait(t, time.Minute, "the programs are connected", func() bool {
		found, err := client.Connections.List(t.Context(), signalbox.ConnectionParams{})
		return err == nil && len(found.Items) == len(programs())
	})
	if printed.has("level=DEBUG", "logger=catalogue.products") {
		t.Error("a program printed DEBUG before it was told to")
	}
	draft := signalbox.LoggerDraft{Base: signalbox.LevelSetting{Level: loglevel.Debug, TTL: time.Minute}}
	if _, err := client.Loggers.Apply(t.Context(), "catalogue.products", draft); err != nil {
		t.Fatal(err)
	}
	storetest.Wait(t, time.Minute, "a program prints DEBUG", func() bool { return printed.has("level=DEBUG", "logger=catalogue.products") })
}

// output collects what the demo and its programs print.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(text)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// has reports whether a line has all the words.
func (o *output) has(words ...string) bool {
	for line := range strings.Lines(o.String()) {
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
			return true
		}
	}
	return false
}
