package api

import (
	"context"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/internal/connections"
)

// flagdStream is an open SyncFlags.
type flagdStream struct {
	api   *API
	key   snapshotKey
	watch connections.Watch
	w     *recorder
	sent  string // the ETag of the last document
}

// blockedWrite is how long a provider that reads slowly may keep a stream that has to end.
const blockedWrite = 500 * time.Millisecond

// run sends documents until the stream ends. It never ends with OK: a provider would take that for the end of all flags.
func (s *flagdStream) run(ctx context.Context, document *encodedSnapshot) {
	if s.w.beginRPC() != nil {
		return // the caller left
	}
	finished := make(chan struct{})
	defer close(finished)
	go s.cutWhenEnded(finished)
	for s.send(document) == nil {
		var err error
		if document, err = s.next(ctx); err != nil {
			s.w.fail(err)
			return
		}
	}
}

// send sends a document, unless the provider has it already.
func (s *flagdStream) send(document *encodedSnapshot) error {
	s.watch.Sent(document.version)
	if document.etag == s.sent {
		return nil
	}
	s.sent = document.etag
	if err := s.w.startMessage(); err != nil {
		return err
	}
	select {
	case <-s.watch.Ended(): // startMessage may just have replaced the deadline of cutWhenEnded
		return nil
	default:
	}
	if err := s.w.writeMessage(configurationField, document.text); err != nil {
		return err
	}
	return noDeadline(http.NewResponseController(s.w).SetWriteDeadline)
}

// cutWhenEnded resets a stream that has to end while a write waits for its reader.
func (s *flagdStream) cutWhenEnded(finished <-chan struct{}) {
	select {
	case <-finished:
		return
	case <-s.watch.Ended():
	}
	select {
	case <-finished:
	case <-time.After(blockedWrite):
		_ = http.NewResponseController(s.w).SetWriteDeadline(time.Now().Add(-time.Second)) // fails only if the stream has ended
	}
}

// next waits for a change and returns the document with it, or the reason for the end of the stream. Changes that come
// within syncInterval are one document.
func (s *flagdStream) next(ctx context.Context) (*encodedSnapshot, error) {
	pause := time.NewTimer(syncInterval)
	defer pause.Stop()
	changed := s.watch.Changed()
	for waited, news := false, false; !waited || !news; {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.watch.Ended():
			return nil, s.watch.Err()
		case <-pause.C:
			waited = true
		case <-changed:
			news = true
		}
	}
	return s.load(ctx)
}

// load returns the newest document, or the reason for the end of the stream. While the database is away it waits, because
// the provider already has the document that is in memory. A document that cannot be made ends the stream: the provider
// would keep outdated flags and nobody would know.
func (s *flagdStream) load(ctx context.Context) (*encodedSnapshot, error) {
	for {
		document, err := s.api.loaded.get(ctx, s.key, s.watch.Seq())
		if !isAway(ctx, err) {
			return document, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.watch.Ended():
			return nil, s.watch.Err()
		case <-time.After(syncRetry):
		}
	}
}

// noDeadline removes a deadline.
func noDeadline(set func(time.Time) error) error { return set(time.Time{}) }
