package api

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
)

// How evaluation goes on while the database is away: from memory, for maxStale.
// Whoever asks waits for the database first, for suspiciousPatience when nothing was
// heard of it lately and for awayPatience once it has failed, so that the first
// request after it is back is answered with what it says. A database that is heard of
// may take its time: loading everything is slow on a busy one.
const (
	maxStale           = 24 * time.Hour
	suspiciousPatience = time.Second
	awayPatience       = 250 * time.Millisecond
)

// outage knows whether the database is away, and since when what is in memory was
// not confirmed.
type outage struct {
	live   func() bool // whether the database was heard of lately
	remote bool        // the database is behind a network, which may go silent
	away   atomic.Bool // the last who asked got no answer

	mu        sync.RWMutex
	confirmed map[string]*atomic.Int64 // by account, in microseconds
}

// ask runs what needs the database, no longer than evaluation waits for it.
func (o *outage) ask(ctx context.Context, ask func(context.Context) error) error {
	away, live := o.away.Load(), o.live == nil || o.live()
	if live && !o.remote {
		return o.note(ctx, away, ask(ctx))
	}
	limited, cancel := o.limit(ctx, live, away)
	defer cancel()
	err := ask(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = errAway()
	}
	return o.note(ctx, away, err)
}

// limit returns a context that ends when evaluation has waited long enough.
func (o *outage) limit(ctx context.Context, live, away bool) (context.Context, context.CancelFunc) {
	switch {
	case live:
		return o.untilSilent(ctx)
	case away:
		return context.WithTimeout(ctx, awayPatience)
	}
	return context.WithTimeout(ctx, suspiciousPatience)
}

// untilSilent returns a context that ends once the database is no longer heard of.
func (o *outage) untilSilent(ctx context.Context) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithCancel(ctx)
	var watch func()
	watch = func() {
		switch {
		case limited.Err() != nil:
		case o.live():
			time.AfterFunc(awayPatience, watch)
		default:
			cancel()
		}
	}
	first := time.AfterFunc(suspiciousPatience, watch)
	return limited, func() {
		first.Stop()
		cancel()
	}
}

// note remembers whether the database answered.
func (o *outage) note(ctx context.Context, was bool, err error) error {
	if is := isAway(ctx, err); is != was {
		o.away.Store(is)
	}
	return err
}

// isAway reports whether an error is the database's: it cannot be reached, or not be
// read. Refusals are answers, and a caller that left says nothing.
func isAway(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	return fault.Is(err, fault.Unavailable) || len(fault.All(err)) == 0 && !errors.Is(err, context.Canceled)
}

// confirm remembers that what is in memory of an account's flags is current.
func (o *outage) confirm(account string) { o.confirmAt(account, time.Now()) }

// accounts returns those whose flags are in memory, or have been.
func (o *outage) accounts() []string {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return slices.Collect(maps.Keys(o.confirmed))
}

// confirmAt remembers that what is in memory of an account's flags was current at an
// instant.
func (o *outage) confirmAt(account string, instant time.Time) {
	o.mu.RLock()
	at := o.confirmed[account]
	o.mu.RUnlock()
	if at == nil {
		at = o.addAccount(account)
	}
	moveTo(at, instant)
}

// moveTo moves an instant forward. Two that race may leave the earlier one, which is
// right as well.
func moveTo(micros *atomic.Int64, at time.Time) {
	if next := at.UnixMicro(); next > micros.Load() {
		micros.Store(next)
	}
}

func (o *outage) addAccount(account string) *atomic.Int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.confirmed == nil {
		o.confirmed = map[string]*atomic.Int64{}
	}
	if o.confirmed[account] == nil {
		o.confirmed[account] = &atomic.Int64{}
	}
	return o.confirmed[account]
}

// since returns when an account's flags were last confirmed.
func (o *outage) since(account string) time.Time {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if at := o.confirmed[account]; at != nil {
		return instant(at)
	}
	return time.Time{}
}

func instant(micros *atomic.Int64) time.Time { return time.UnixMicro(micros.Load()).UTC() }

// isTooOld reports whether what was confirmed last at an instant is too old to serve.
func isTooOld(since time.Time) bool { return time.Since(since) > maxStale }

// authenticate finds the caller behind a token. Routes that outlive the database know
// keys from memory while it is away.
func (a *API) authenticate(ctx context.Context, to access, c *call, token string) (err error) {
	if !to.outlives {
		c.caller, err = a.Auth.Authenticate(ctx, token, a.peers.of(c.request))
		return err
	}
	err = a.outage.ask(ctx, func(ctx context.Context) error {
		c.caller, err = a.Auth.Authenticate(ctx, token, a.peers.of(c.request))
		return err
	})
	if isAway(ctx, err) {
		if known, remembered := a.Auth.Recall(token); remembered {
			c.caller, c.stale = known, true
			return nil
		}
	}
	return err
}

// sinceText returns an instant as a JSON string, or "" for none.
func sinceText(since time.Time) string {
	if since.IsZero() {
		return ""
	}
	return strconv.Quote(since.Format(time.RFC3339Nano))
}
