package api

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/connections"
	"github.com/signalbox/signalbox/internal/levelfiles"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/observations"
)

const (
	// levelFilesPath begins every path of level files. A key follows, because their readers can send no headers.
	levelFilesPath = "/levels/{token}/{environment}/"
	// log4jInterval is how often Log4j 2 asks for its file again.
	log4jInterval = 15 * time.Second
	// fileWindow is how often the comment in the Logback file changes. It is also the age at which the levels are read
	// again although no change concerns them: the spellings of names are not recorded as changes.
	fileWindow = 5 * time.Minute
	// maxServiceName is the longest name of a polling service, in characters.
	maxServiceName = 255
	// announceTimeout bounds how long the first poll of a service waits until the service is stored.
	announceTimeout = 2 * time.Second
)

// levelFileRoutes returns a route for every format.
func (a *API) levelFileRoutes() (routes []route) {
	for _, format := range levelfiles.Formats() {
		routes = append(routes, route{"GET " + levelFilesPath + format.Name, pollsLevels(), a.levelFile(format)})
	}
	return routes
}

// levelFile serves the levels of an environment in a format. While the database is away, it serves the levels in memory.
func (a *API) levelFile(format levelfiles.Format) handler {
	return func(c *call) (reply, error) {
		environment := c.request.PathValue("environment")
		if err := c.caller.RequireLevels(environment); err != nil {
			return reply{}, err
		}
		service, sent := c.query.Filter("service").Get()
		if sent && !naming.IsLabel(service, maxServiceName) {
			c.query.Refuse("service", "must be "+naming.LabelRule(maxServiceName))
		}
		if err := c.query.Err(); err != nil {
			return reply{}, err
		}
		key := snapshotKey{account: c.caller.Account, environment: environment, parts: SnapshotParts{Files: true}}
		found, since, err := a.loadedFiles(c, key)
		if err != nil {
			return reply{}, err
		}
		a.notePoll(c, environment, service, found.version)
		set, err := found.files.unexpired(time.Now())
		if err != nil {
			return reply{}, err
		}
		return set.reply(c, format, since, func(at time.Time) time.Time { return a.loaded.modified(key, set.digest, at) })
	}
}

// loadedFiles returns the levels for files. If the database is away, since is when they were last known to be current.
func (a *API) loadedFiles(c *call, key snapshotKey) (found *encodedSnapshot, since time.Time, err error) {
	return a.loadedOrHeld(c.ctx(), c.stale, key, func(ctx context.Context) (*encodedSnapshot, error) {
		found, err := a.loaded.get(ctx, key, c.caller.Version)
		if err == nil && found.files.isOld() {
			found, err = a.loaded.renew(ctx, key, c.caller.Version)
		}
		return found, err
	})
}

// notePoll shows the caller among the connections. At its first poll, a service that names itself is added to the
// services; if that fails, its next poll tries again.
func (a *API) notePoll(c *call, environment, service string, seq int64) {
	peer := connections.Peer{Environment: &environment, Client: header(c.request, "User-Agent")}
	if service != "" {
		peer.Service = &service
	}
	isNew := a.Pollers.Seen(c.caller.Account, peer, seq, time.Now())
	if !isNew || service == "" || c.stale {
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx(), announceTimeout)
	defer cancel()
	if _, err := a.Observations.Report(ctx, c.caller, []observations.ReportedContext{{Type: observations.KindService, Key: service}}); err != nil {
		a.Pollers.Forget(c.caller.Account, peer)
	}
}

// fileSet has the levels of an environment and the files made from them. All requests share it.
type fileSet struct {
	text []byte // of the snapshot with the levels
	read time.Time
	size *atomic.Int64 // the approximate memory

	mu     sync.Mutex
	levels *logging.FileLevels // nil until the first file is made
	digest [sha256.Size]byte   // of the levels
	files  map[string]madeFile // by the name of the format
	// late is this set without its expired levels, valid until the next level expires. It is needed while the database,
	// which normally removes expired levels at once, is away or has just come back.
	late *fileSet
	// expires is when the next level expires; nil for never.
	expires *time.Time
}

// madeFile is a file in a format.
type madeFile struct {
	window time.Time
	body   []byte
	etag   string
	zipped func() []byte
}

func newFileSet(text []byte) *fileSet {
	return &fileSet{text: text, read: time.Now(), size: &atomic.Int64{}}
}

// isOld reports whether the levels should be read again.
func (s *fileSet) isOld() bool { return time.Since(s.read) > fileWindow }

// bytes returns the approximate memory of the files, besides the snapshot.
func (s *fileSet) bytes() int64 {
	if s == nil {
		return 0
	}
	return s.size.Load()
}

// reply answers with the levels in a format. modified returns the Last-Modified; see loadedFiles for since.
func (s *fileSet) reply(c *call, format levelfiles.Format, since time.Time, modified func(at time.Time) time.Time) (reply, error) {
	made, err := s.in(format, time.Now())
	if err != nil {
		return reply{}, err
	}
	c.writer.set("Cache-Control", "private, no-cache")
	return reply{status: http.StatusOK, body: made.body, zipped: made.zipped, mediaType: format.MediaType, etag: made.etag, since: since,
		modified: modified(s.levels.Modified)}, nil
}

// in returns the file of a format.
func (s *fileSet) in(format levelfiles.Format, now time.Time) (madeFile, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.open(now); err != nil {
		return madeFile{}, err
	}
	window := now.Truncate(fileWindow)
	made, exists := s.files[format.Name]
	if exists && made.window.Equal(window) {
		return made, nil
	}
	s.size.Add(-int64(len(made.body)))
	body := format.Write(s.levels.At(now), levelfiles.Options{Interval: log4jInterval, Window: window})
	s.size.Add(int64(len(body)))
	made = madeFile{window: window, body: body, etag: hashed(body), zipped: sync.OnceValue(func() []byte { return compress(body) })}
	s.files[format.Name] = made
	return made, nil
}

// open decodes the levels. The caller holds the lock.
func (s *fileSet) open(now time.Time) error {
	if s.files != nil {
		return nil
	}
	if s.levels == nil {
		var document struct {
			Data struct {
				Attributes struct {
					Files *logging.FileLevels `json:"files"`
				} `json:"attributes"`
			} `json:"data"`
		}
		if err := json.Unmarshal(s.text, &document); err != nil || document.Data.Attributes.Files == nil {
			return fmt.Errorf("decoding the levels for files: %w", err)
		}
		s.levels = document.Data.Attributes.Files
		s.expires = s.levels.NextExpiry()
		s.size.Add(int64(len(s.text))) // as much again, roughly
	}
	s.text = nil // the snapshot has it
	s.digest = sha256.Sum256(levelfiles.JSON(s.levels.At(now), levelfiles.Options{}))
	s.files = map[string]madeFile{}
	return nil
}

// unexpired returns the set without the levels that have expired.
func (s *fileSet) unexpired(now time.Time) (*fileSet, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.open(now); err != nil {
		return nil, err
	}
	if s.expires != nil && !now.Before(*s.expires) {
		left := s.levels.Unexpired(now)
		s.late, s.expires = &fileSet{levels: left, read: s.read, size: s.size}, left.NextExpiry()
	}
	if s.late != nil {
		return s.late, nil
	}
	return s, nil
}

// modified returns the Last-Modified of levels with this digest; at is when any level of the account was last modified. After
// the database was restored to an earlier state, it is not before the restore.
func (c *snapshotCache) modified(key snapshotKey, digest [sha256.Size]byte, at time.Time) time.Time {
	if forgotten := time.Unix(c.forgotten.Load(), 0); at.Before(forgotten) {
		at = forgotten
	}
	return c.holder(key).modified.of(digest, at)
}

// lastModified is the Last-Modified of the files of an environment.
type lastModified struct {
	mu     sync.Mutex
	digest [sha256.Size]byte
	at     time.Time
}

// of returns the Last-Modified of levels with this digest; at is when any level of the account was last modified. An
// unchanged digest keeps its time, so that a change of other levels does not make a program load its configuration again.
// Programs compare whole seconds, so a new digest always gets a later second.
func (m *lastModified) of(digest [sha256.Size]byte, at time.Time) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.at.IsZero() {
		m.digest, m.at = digest, at
	}
	if m.digest != digest {
		m.digest = digest
		if m.at = m.at.Add(time.Second); at.After(m.at) {
			m.at = at
		}
	}
	return m.at
}
