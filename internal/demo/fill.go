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
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/app"
)

//go:embed data
var data embed.FS

// month is how far the demo's history goes back.
const month = 30 * 24 * time.Hour

// person is somebody who uses the demo's account.
type person struct {
	name, email string
	role        accounts.Role
}

// people are those of the account; the first is its owner.
func people() []person {
	return []person{
		{"Ada Okafor", "ada@example.com", accounts.Owner},
		{"Ben Lindqvist", "ben@example.com", accounts.Admin},
		{"Chiara Moretti", "chiara@example.com", accounts.Member},
		{"Dev Patel", "dev@example.com", accounts.Viewer},
	}
}

// write is one version of a resource that a person wrote.
type write struct {
	kind, id   string
	At         age             `json:"at"` // before now
	By         string          `json:"by"` // the first name
	Attributes json.RawMessage `json:"attributes"`
	create     bool
}

// age is how long ago something was, such as "26d" or "90m".
type age time.Duration

// UnmarshalJSON reads what time.ParseDuration reads, and whole days.
func (a *age) UnmarshalJSON(text []byte) error {
	var written string
	if err := json.Unmarshal(text, &written); err != nil {
		return err
	}
	if days, inDays := strings.CutSuffix(written, "d"); inDays {
		count, err := strconv.Atoi(days)
		*a = age(time.Duration(count) * 24 * time.Hour)
		return err
	}
	duration, err := time.ParseDuration(written)
	*a = age(duration)
	return err
}

// fill makes the account's month: people first, then everything that the files describe in the order of time, then the runs.
func (d *demo) fill(ctx context.Context) (err error) {
	now := time.Now().UTC().Truncate(time.Second)
	d.clock.set(now.Add(-month - 2*time.Hour))
	quiet := slog.New(slog.DiscardHandler)
	server, err := app.New(ctx, d.settings, quiet, io.Discard, func(o *app.Options) {
		o.Now, o.Unsynced = d.clock.Now, true
		o.PasswordCost = accounts.PasswordCost{Memory: 64, Passes: 1} // everybody signs in once a day
	})
	if err != nil {
		return err
	}
	// It is not started: nothing fires, expires or is removed while the clock is moved.
	defer func() { err = errors.Join(err, server.Stop(context.WithoutCancel(ctx))) }()
	if err := d.write(ctx, server, now); err != nil {
		return err
	}
	return d.makeRuns(ctx, server.Store(), now)
}

func (d *demo) write(ctx context.Context, server *app.App, now time.Time) error {
	visitors, err := d.invite(ctx, server)
	if err != nil {
		return err
	}
	writes, err := readWrites(d.receiver)
	if err != nil {
		return err
	}
	d.clock.set(now.Add(-month))
	if err := visitors["Ada"].discover(ctx); err != nil {
		return err
	}
	for _, each := range writes {
		d.clock.set(now.Add(-time.Duration(each.At)))
		if err := visitors[each.By].write(ctx, each); err != nil {
			return fmt.Errorf("%s %s: %w", each.kind, each.id, err)
		}
	}
	d.clock.set(now.Add(-time.Minute))
	if err := visitors["Ada"].arrange(ctx); err != nil {
		return err
	}
	return visitors["Ada"].confirm(ctx)
}

// readWrites returns what the files describe, the oldest first. What was written at the same time keeps its order: an
// environment comes before the flags that have values for it.
func readWrites(receiver string) (writes []write, err error) {
	for _, kind := range []string{"environments", "log_groups", "loggers", "flags", "configs", "jobs"} {
		text, err := data.ReadFile("data/" + kind + ".json")
		if err != nil {
			return nil, err
		}
		var resources []struct {
			ID       string  `json:"id"`
			Versions []write `json:"versions"`
		}
		if err := json.Unmarshal([]byte(strings.ReplaceAll(string(text), "{receiver}", receiver)), &resources); err != nil {
			return nil, fmt.Errorf("data/%s.json: %w", kind, err)
		}
		for _, resource := range resources {
			for i, version := range resource.Versions {
				version.kind, version.id, version.create = kind, resource.ID, i == 0
				writes = append(writes, version)
			}
		}
	}
	slices.SortStableFunc(writes, func(a, b write) int { return cmp.Compare(b.At, a.At) })
	return writes, nil
}
