package api

import (
	"cmp"
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

// While the database is away, evaluation is answered from memory for up to maxStale.
// Each request still tries the database first, so that answers are current as soon as it
// is back. The request waits for awayPatience if the last request got no answer and the change
// feed is silent, and for suspiciousPatience if only the feed is silent. While the feed is live there is
// no limit, because loading everything from a busy database is slow.
const (
	maxStale           = 24 * time.Hour
	suspiciousPatience = time.Second
	awayPatience       = 25 * time.Millisecond
	silencePoll        = 250 * time.Millisecond
)

// outage knows whether the database is away, and when the flags in memory were last
// known to be current.
type outage struct {
	live   func() bool // whether the change feed is live; nil is always
	remote bool        // the database is behind a network, which may go silent
	away   atomic.Bool // the last request got no answer from the database

	mu        sync.RWMutex
	confirmed map[string]*atomic.Int64 // by account: when its flags were last current, in microseconds
}

// ask runs a function that needs the database, no longer than evaluation may wait.
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

// untilSilent returns a context that ends once the change feed is no longer live.
func (o *outage) untilSilent(ctx context.Context) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithCancel(ctx)
	var watch func()
	watch = func() {
		switch {
		case limited.Err() != nil:
		case o.live():
			time.AfterFunc(silencePoll, watch)
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

// loadedOrHeld returns the snapshot that load reads. While the database is away, it returns the snapshot in memory, and
// when that was last known to be current. If stale, the database is known to be away, and load is not called.
func (a *API) loadedOrHeld(ctx context.Context, stale bool, key snapshotKey,
	load func(context.Context) (*encodedSnapshot, error),
) (found *encodedSnapshot, since time.Time, err error) {
	if !stale {
		err = a.outage.ask(ctx, func(ctx context.Context) error {
			found, err = load(ctx)
			return err
		})
		if !isAway(ctx, err) {
			return found, time.Time{}, err
		}
	}
	found, since = a.loaded.held(key)
	if found == nil || isTooOld(since) {
		return nil, since, cmp.Or(err, errAway())
	}
	return found, since, nil
}

// isAway reports whether err means that the database cannot be reached or read. Other
// refusals are answers of the database. If the caller left, err says nothing about the
// database.
func isAway(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	return fault.Is(err, fault.Unavailable) || len(fault.All(err)) == 0 && !errors.Is(err, context.Canceled)
}

// confirm remembers that the account's flags in memory are current.
func (o *outage) confirm(account string) { o.confirmAt(account, time.Now()) }

// accounts returns the accounts whose flags are or were in memory.
func (o *outage) accounts() []string {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return slices.Collect(maps.Keys(o.confirmed))
}

// confirmAt remembers that the account's flags in memory were current at an instant.
func (o *outage) confirmAt(account string, instant time.Time) {
	o.mu.RLock()
	at := o.confirmed[account]
	o.mu.RUnlock()
	if at == nil {
		at = o.addAccount(account)
	}
	moveTo(at, instant)
}

// moveTo moves an instant forward. Two concurrent calls may leave the earlier instant,
// which is also true.
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

// since returns when an account's flags were last known to be current.
func (o *outage) since(account string) time.Time {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if at := o.confirmed[account]; at != nil {
		return instant(at)
	}
	return time.Time{}
}

func instant(micros *atomic.Int64) time.Time { return time.UnixMicro(micros.Load()).UTC() }

// isTooOld reports whether data that was last current at an instant is too old to serve.
func isTooOld(since time.Time) bool { return time.Since(since) > maxStale }

// authenticate finds the caller behind a token. While the database is away, routes that
// outlive it accept keys from memory.
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
