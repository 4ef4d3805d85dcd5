package logging

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/background"
)

// sightingInterval is the pace at which sightings are written.
const sightingInterval = 10 * time.Second

// sightingBatch is how many are written under one hold of an account's lock.
const sightingBatch = 5_000

// Sightings remembers that known sources were seen again and writes it in
// batches: a fleet reports everything it has every minute, and nearly always
// nothing but the time is new.
type Sightings struct {
	Store Store
	Log   *slog.Logger

	mu      sync.Mutex
	pending map[string]map[string]time.Time // by account and source
	loop    background.Loop
}

// Note remembers that sources were seen.
func (s *Sightings) Note(account string, ids []string, at time.Time) {
	if len(ids) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending == nil {
		s.pending = map[string]map[string]time.Time{}
	}
	if s.pending[account] == nil {
		s.pending[account] = make(map[string]time.Time, len(ids))
	}
	for _, id := range ids {
		if at.After(s.pending[account][id]) {
			s.pending[account][id] = at
		}
	}
}

// Start begins to write.
func (s *Sightings) Start(ctx context.Context) {
	s.loop.Start(ctx, func(ctx context.Context) {
		background.Every(ctx, sightingInterval, func(ctx context.Context) {
			s.Flush(context.WithoutCancel(ctx)) // Stop waits for it
		})
	})
}

// Stop writes what is left and ends.
func (s *Sightings) Stop(ctx context.Context) {
	s.loop.Stop()
	s.Flush(ctx)
}

// Flush writes what is remembered. What cannot be written now is remembered on.
func (s *Sightings) Flush(ctx context.Context) {
	s.mu.Lock()
	pending := s.pending
	s.pending = nil
	s.mu.Unlock()
	for account, times := range pending {
		reports := together(times)
		if err := s.write(ctx, account, reports); err != nil {
			s.Log.Debug("Could not write when loggers were last seen; it is tried again.", "error", err)
			for _, each := range reports {
				s.Note(account, each.ids, each.at)
			}
		}
	}
}

// sighting is sources that were seen at the same instant: those of one report,
// written with one statement.
type sighting struct {
	at  time.Time
	ids []string
}

func together(times map[string]time.Time) []sighting {
	reports := map[time.Time][]string{}
	for id, at := range times {
		reports[at] = append(reports[at], id)
	}
	var found []sighting
	for at, ids := range reports {
		for part := range slices.Chunk(ids, sightingBatch) {
			found = append(found, sighting{at, part})
		}
	}
	return found
}

// write stores an account's sightings in transactions of a bounded size.
func (s *Sightings) write(ctx context.Context, account string, reports []sighting) error {
	for len(reports) > 0 {
		count, size := 1, len(reports[0].ids)
		for count < len(reports) && size+len(reports[count].ids) <= sightingBatch {
			size += len(reports[count].ids)
			count++
		}
		err := s.Store.Write(ctx, account, func(tx Tx) error { return touch(ctx, tx, account, reports[:count]) })
		if err != nil {
			return err
		}
		reports = reports[count:]
	}
	return nil
}

func touch(ctx context.Context, tx Tx, account string, reports []sighting) error {
	for _, each := range reports {
		if err := tx.TouchLoggerSources(ctx, account, each.ids, each.at); err != nil {
			return err
		}
	}
	return nil
}
