package demo

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/store"
)

//go:embed data
var data embed.FS

const (
	day = 24 * time.Hour
	// founded is how long ago the account was created.
	founded = 90 * day
)

// history creates the history of the demo's account.
type history struct {
	now      time.Time
	clock    *clock
	api      http.Handler
	db       *store.DB
	account  string              // the account's id
	receiver string              // the URL that jobs call
	visitors map[string]*visitor // people, by first name
	keys     map[string]*visitor // programs with an API key, by the key's id in the file
	chance   *rand.Rand
}

// event is an action at a time in the history.
type event struct {
	at age
	do func(context.Context) error
}

// age is the time since an event, such as "26d" or "90m".
type age time.Duration

// UnmarshalJSON reads the durations of time.ParseDuration, and whole days such as 26d.
func (a *age) UnmarshalJSON(text []byte) error {
	var written string
	if err := json.Unmarshal(text, &written); err != nil {
		return err
	}
	if days, inDays := strings.CutSuffix(written, "d"); inDays {
		count, err := strconv.Atoi(days)
		*a = age(time.Duration(count) * day)
		return err
	}
	duration, err := time.ParseDuration(written)
	*a = age(duration)
	return err
}

// read decodes a file of data, after replacing placeholders in its text.
func read[T any](name string, placeholders ...string) (found T) {
	text, err := data.ReadFile("data/" + name)
	if err == nil {
		err = json.Unmarshal([]byte(strings.NewReplacer(placeholders...).Replace(string(text))), &found)
	}
	if err != nil {
		panic(fmt.Errorf("data/%s: %w", name, err)) // the file is embedded, so this is a programming error
	}
	return found
}

// fill creates the account and everything in the data files, with a clock that fill moves.
func (d *demo) fill(ctx context.Context) (err error) {
	now := time.Now().UTC().Truncate(time.Second)
	clock := &clock{now: now.Add(-founded)}
	server, err := app.New(ctx, d.settings, slog.New(slog.DiscardHandler), io.Discard, func(o *app.Options) {
		o.Now, o.Unsynced = clock.Now, true
		o.PasswordCost = accounts.PasswordCost{Memory: 64, Passes: 1} // cheap, because people sign in often
	})
	if err != nil {
		return err
	}
	// The server's loops are not started, so nothing fires, expires or is removed while the clock moves.
	defer func() { err = errors.Join(err, server.Stop(context.WithoutCancel(ctx))) }()
	h := &history{now: now, clock: clock, api: server.Handler(), db: server.Store(), receiver: d.receiver,
		visitors: map[string]*visitor{}, keys: map[string]*visitor{},
		chance: rand.New(rand.NewPCG(7, 11))} //nolint:gosec // made up
	if err := h.makeOwner(ctx, server.Operator()); err != nil {
		return err
	}
	if err := h.play(ctx, slices.Concat(h.invitations(), h.writes(), h.reports(), h.usage())); err != nil {
		return err
	}
	d.key = h.keys["services"].key
	return nil
}

// play runs events in the order of their time, and fires jobs in between. Events at the same time keep their order,
// because an environment must exist before flags have values for it.
func (h *history) play(ctx context.Context, events []event) error {
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(b.at, a.at) })
	for _, each := range events {
		at := h.now.Add(-time.Duration(each.at))
		if err := h.fireUntil(ctx, at); err != nil {
			return err
		}
		h.clock.set(at)
		if err := each.do(ctx); err != nil {
			return err
		}
		if err := h.deliver(ctx); err != nil {
			return err
		}
	}
	// The jobs of the last minute are left to the real server, because their runs would end in the future.
	if err := h.fireUntil(ctx, h.now.Add(-time.Minute)); err != nil {
		return err
	}
	h.clock.set(h.now)
	if err := h.retain(ctx); err != nil {
		return err
	}
	return h.owner().leave(ctx)
}

// retain records that retention ran every day, as on a server of this age. Without it, the real server takes the invented months
// for a clock that jumped, and warns about it.
func (h *history) retain(ctx context.Context) error {
	for days := 9; days > 0; days-- { // the warning lasts for a week after the first time
		if _, err := h.db.BeginRetention(ctx, h.now.Add(-time.Duration(days)*day)); err != nil {
			return err
		}
	}
	return nil
}

// write is one version of a resource that a person writes, or another action on the resource.
type write struct {
	kind, id   string
	At         age             `json:"at"`
	By         string          `json:"by"`     // the person's first name
	Action     string          `json:"action"` // if empty, a version is written
	Attributes json.RawMessage `json:"attributes"`
	create     bool
}

// writes returns the writes in the data files as events.
func (h *history) writes() (events []event) {
	for _, kind := range []string{"environments", "settings", "api_keys", "log_groups", "loggers", "flags", "configs", "jobs", "webhooks"} {
		resources := read[[]struct {
			ID       string  `json:"id"`
			Versions []write `json:"versions"`
		}](kind+".json", "{receiver}", h.receiver, "{in 6 days}", h.now.Add(6*day).Format(time.RFC3339))
		for _, resource := range resources {
			for i, each := range resource.Versions {
				each.kind, each.id, each.create = kind, resource.ID, i == 0
				events = append(events, event{each.At, func(ctx context.Context) error {
					if err := h.write(ctx, each); err != nil {
						return fmt.Errorf("%s %s: %w", each.kind, each.id, err)
					}
					return nil
				}})
			}
		}
	}
	return events
}

// write sends one write to the API.
func (h *history) write(ctx context.Context, w write) error {
	method, path, body := http.MethodPut, w.kind+"/"+w.id, any(document(w.kind, w.id, w.Attributes))
	switch {
	case w.Action == "delete":
		method, body = http.MethodDelete, nil
	case w.kind == "settings": // a plain JSON object without an envelope
		path, body = "accounts/current/settings", w.Attributes
	case w.kind == "api_keys":
		return h.writeKey(ctx, w)
	case w.create && !isGiven(w):
		method, path = http.MethodPost, w.kind
	}
	_, err := h.visitors[w.By].request(ctx, method, path, body)
	return err
}

// isGiven reports whether a resource exists before its first write: new accounts have some, and services report loggers.
func isGiven(w write) bool {
	return w.kind == "loggers" || w.id == "production" || w.id == "staging" || w.id == "common"
}

// writeKey creates, uses or revokes a key.
func (h *history) writeKey(ctx context.Context, w write) (err error) {
	key := h.keys[w.id]
	switch w.Action {
	case "read":
		_, err = key.request(ctx, http.MethodGet, "flags?page[size]=1", nil)
	case "evaluate":
		_, err = key.exchange(ctx, http.MethodPost, "/ofrep/v1/evaluate/flags/banner-text", map[string]any{"context": map[string]string{"targetingKey": "alice"}})
	case "revoke":
		_, err = h.visitors[w.By].request(ctx, http.MethodPost, "api_keys/"+key.id+"/actions/revoke", nil)
	default:
		var made answer
		made, err = h.visitors[w.By].send(ctx, http.MethodPost, "api_keys", document(w.kind, "", w.Attributes))
		h.keys[w.id] = &visitor{api: h.api, clock: h.clock, id: made.ID, key: made.Attributes.Key}
	}
	return err
}
