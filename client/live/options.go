package live

import (
	"errors"
	"log/slog"
	"os"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/internal/module"
)

// Option configures [Start].
type Option func(*settings)

// settings are the options of Start, and the waiting times.
type settings struct {
	url, key, environment, service string
	clientOptions                  []signalbox.Option
	log                            *slog.Logger
	cacheDir                       string
	noCache                        bool
	bootstrap                      string
	noContexts                     bool
	timing                         timing
	createFile                     func(dir string) (*os.File, error) // creates a temporary file for the cache
}

// timing has the waiting times of a box. Tests shorten them.
type timing struct {
	minBackoff, maxBackoff time.Duration // between attempts to reach the server
	poll                   time.Duration // the longest pause between snapshots while no socket can be opened
	settle                 time.Duration // how long changes are collected before a snapshot is loaded
	report                 time.Duration // between two reports of everything
	applied                time.Duration // from a level's change to its report
	save                   time.Duration // between two writes of the cache
}

func defaultTiming() timing {
	return timing{
		minBackoff: time.Second, maxBackoff: time.Minute, poll: 30 * time.Second, settle: 10 * time.Millisecond,
		report: time.Minute, applied: 500 * time.Millisecond, save: 5 * time.Second,
	}
}

// WithURL sets the server's base URL, such as http://127.0.0.1:8080, instead of SIGNALBOX_URL.
func WithURL(url string) Option { return func(s *settings) { s.url = url } }

// WithKey sets the API key instead of SIGNALBOX_API_KEY. The role VIEWER is enough.
func WithKey(key string) Option { return func(s *settings) { s.key = key } }

// WithEnvironment sets the environment instead of SIGNALBOX_ENVIRONMENT.
func WithEnvironment(name string) Option { return func(s *settings) { s.environment = name } }

// WithService sets the name of the service instead of SIGNALBOX_SERVICE. Rules read it as service.key.
func WithService(name string) Option { return func(s *settings) { s.service = name } }

// WithClientOptions configures the requests, for a proxy or certificates of your own.
func WithClientOptions(options ...signalbox.Option) Option {
	return func(s *settings) { s.clientOptions = append(s.clientOptions, options...) }
}

// WithLogger sets the logger for the box's own records, instead of [slog.Default].
func WithLogger(log *slog.Logger) Option { return func(s *settings) { s.log = log } }

// WithCacheDir keeps the last known values in a directory instead of the user's cache directory.
func WithCacheDir(dir string) Option { return func(s *settings) { s.cacheDir = dir } }

// WithoutCache keeps nothing on disk.
func WithoutCache() Option { return func(s *settings) { s.noCache = true } }

// WithBootstrap names a file with the snapshot to begin with when there is no cache: the body of the response to
// GET /api/v1/snapshots/{environment}.
func WithBootstrap(file string) Option { return func(s *settings) { s.bootstrap = file } }

// WithoutContextReports never sends the keys and attributes of users and other contexts to the server.
func WithoutContextReports() Option { return func(s *settings) { s.noContexts = true } }

// newSettings applies options over the environment variables.
func newSettings(options []Option) settings {
	s := settings{
		url: os.Getenv("SIGNALBOX_URL"), key: os.Getenv("SIGNALBOX_API_KEY"),
		environment: os.Getenv("SIGNALBOX_ENVIRONMENT"), service: os.Getenv("SIGNALBOX_SERVICE"),
		timing: defaultTiming(), createFile: createTemp,
	}
	for _, option := range options {
		option(&s)
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	return s
}

// client returns the client for the settings, or an error with every missing or invalid setting.
func (s settings) client() (*signalbox.Client, error) {
	var problems []error
	for _, each := range []struct{ value, text string }{
		{s.url, "live: no server: set SIGNALBOX_URL or use WithURL"},
		{s.key, "live: no API key: set SIGNALBOX_API_KEY or use WithKey"},
		{s.environment, "live: no environment: set SIGNALBOX_ENVIRONMENT or use WithEnvironment"},
	} {
		if each.value == "" {
			problems = append(problems, errors.New(each.text))
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	// Requests are not retried, because the box itself waits and tries again.
	options := append([]signalbox.Option{signalbox.WithUserAgent("signalbox-live/" + module.Version()), signalbox.WithRetry(signalbox.RetryPolicy{})}, s.clientOptions...)
	return signalbox.New(s.url, s.key, options...)
}
