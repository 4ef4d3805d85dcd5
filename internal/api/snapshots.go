package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/configs"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/webhooks"
)

const kindSnapshot = "snapshot"

// maxSnapshot bounds the bytes of a snapshot. Resolved configs include inherited
// values, so they may be many times as large as the stored configs.
const maxSnapshot = 64 << 20

// seqHeader repeats the seq of a snapshot, also in a 304 response.
const seqHeader = "Signalbox-Seq"

// SnapshotParts are the parts of a snapshot that a caller asks for.
type SnapshotParts struct {
	Flags, Levels, Configs bool
	// Files asks for the levels as level files need them. No caller gets them as a snapshot.
	Files bool
}

// has reports whether a change of a kind of resource may alter any of the parts. Unknown
// kinds may alter all parts.
func (p SnapshotParts) has(kind string) bool {
	switch kind {
	case flags.Kind:
		return p.Flags
	case logging.Kind, logging.KindGroup:
		return p.Levels || p.Files
	case configs.Kind:
		return p.Configs
	case jobs.Kind, jobs.KindHealth, webhooks.Kind, accounts.KindSession, accounts.KindKey, accounts.KindUser, accounts.KindInvitation, accounts.KindLink,
		accounts.KindAccount, accounts.KindAccountSettings, accounts.KindUserSettings, observations.KindService, observations.KindContextType, observations.KindContext:
		return false
	}
	return true
}

// Snapshot has the flags and log levels that a running service loads in one
// environment. Configs may be large, so SnapshotSource passes them one by one.
type Snapshot struct {
	Seq     int64 // the account's last change that the snapshot includes
	Flags   []flags.Flag
	Loggers []logging.Logger
	Groups  []logging.Group
	Files   *logging.FileLevels
}

// snapshot serves everything that a running service needs in an environment. An
// environment that does not exist yet is served without values of its own.
func (a *API) snapshot(c *call) (reply, error) {
	environment := c.request.PathValue("environment")
	if !environments.IsKey(environment) {
		return reply{}, fault.Missing("environment", environment)
	}
	parts := snapshotParts(c)
	if err := c.query.Err(); err != nil {
		return reply{}, err
	}
	return a.loadedSnapshot(c, snapshotKey{account: c.caller.Account, environment: environment, parts: parts})
}

// loadedSnapshot answers with a snapshot; while the database is away with the one in
// memory. A caller that already has it, by its ETag, does not get it again.
func (a *API) loadedSnapshot(c *call, key snapshotKey) (reply, error) {
	found, since, err := a.loadedOrHeld(c.ctx(), c.stale, key, func(ctx context.Context) (*encodedSnapshot, error) {
		return a.loaded.get(ctx, key, c.caller.Version)
	})
	if err != nil {
		return reply{}, err
	}
	if since.IsZero() {
		return found.reply(c, since), nil
	}
	if listed := header(c.request, "If-None-Match"); listed != "" && matchesTag(listed, found.etag, func(tag string) string { return strongTag(weakTag(tag)) }) {
		return found.reply(c, since), nil
	}
	return found.markStale(since).reply(c, since), nil
}

// snapshotParts reads include; without it everything is included.
func snapshotParts(c *call) SnapshotParts {
	listed, sent := c.query.Filter("include").Get()
	if !sent {
		return SnapshotParts{Flags: true, Levels: true, Configs: true}
	}
	var parts SnapshotParts
	for name := range strings.SplitSeq(listed, ",") {
		switch name {
		case "flags":
			parts.Flags = true
		case "levels":
			parts.Levels = true
		case "configs":
			parts.Configs = true
		default:
			c.query.Refuse("include", "must be a list such as flags,levels,configs")
			return parts
		}
	}
	return parts
}

// readSnapshot reads and encodes a snapshot.
func readSnapshot(ctx context.Context, source SnapshotSource, key snapshotKey) (*encodedSnapshot, error) {
	resolved := snapshotWriter{}
	found, err := source.Snapshot(ctx, key.account, key.environment, key.parts, resolved.config)
	if err != nil {
		return nil, err
	}
	w := snapshotWriter{}
	w.WriteString(`{"data":{"id":"` + key.environment + `","type":"` + kindSnapshot + `","attributes":{"seq":`)
	number := strconv.FormatInt(found.Seq, 10)
	w.omitted = []span{{w.Len(), w.Len() + len(number)}}
	w.WriteString(number)
	if key.parts.Flags {
		writeList(&w, "flags", flags.Kind, found.Flags, func(flag flags.Flag) (string, any) { return flag.Key, flag.Definition() })
	}
	if key.parts.Levels {
		writeList(&w, "loggers", logging.Kind, found.Loggers, func(logger logging.Logger) (string, any) { return logger.Key, logger })
		writeList(&w, "log_groups", logging.KindGroup, found.Groups, func(group logging.Group) (string, any) { return group.Key, group })
	}
	if key.parts.Files {
		w.member("files", found.Files)
	}
	if key.parts.Configs {
		w.WriteString(`,"configs":{`)
		_, _ = resolved.WriteTo(&w.Buffer) // a buffer takes everything
		w.WriteString("}")
	}
	w.WriteString("}}}\n")
	if w.err == nil && w.Len() > maxSnapshot {
		w.err = tooLargeSnapshot()
	}
	if w.err != nil {
		return nil, w.err
	}
	made := newEncodedSnapshot(found.Seq, bytes.Clone(w.Bytes()), w.omitted...) // without spare capacity
	if key.parts.Files {
		made.files = newFileSet(made.text)
	}
	return made, nil
}

// snapshotWriter encodes a snapshot into memory, and remembers the first error.
type snapshotWriter struct {
	bytes.Buffer
	err     error
	omitted []span // the parts that the ETag does not cover: the version and each updated_at
}

// member writes a member with any value.
func (w *snapshotWriter) member(name string, value any) {
	text, err := json.Marshal(value)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("encoding a snapshot: %w", err)
	}
	w.WriteString(`,"` + name + `":`)
	_, _ = w.Write(text) // a buffer takes everything
}

// writeList writes a member that is a list of resources.
func writeList[T any](w *snapshotWriter, name, kind string, items []T, render func(T) (id string, attributes any)) {
	encoder := json.NewEncoder(&w.Buffer)
	encoder.SetEscapeHTML(false)
	w.WriteString(`,"` + name + `":[`)
	for i, item := range items {
		if i > 0 {
			w.WriteByte(',')
		}
		id, attributes := render(item)
		began := w.Len()
		if err := encoder.Encode(jsonapi.Resource{ID: id, Type: kind, Attributes: attributes}); err != nil && w.err == nil {
			w.err = fmt.Errorf("encoding a snapshot: %w", err)
		}
		w.Truncate(w.Len() - 1) // the line break after each value
		w.omitUpdatedAt(began)
	}
	w.WriteByte(']')
}

// omitUpdatedAt leaves updated_at, the last attribute of every definition, out of the
// ETag: it also changes when the resource changes in another environment.
func (w *snapshotWriter) omitUpdatedAt(began int) {
	const name, end = `"updated_at":"`, `"}}`
	resource := w.Bytes()[began:]
	from := bytes.LastIndex(resource, []byte(name)) + len(name)
	to := len(resource) - len(end)
	if from < len(name) || to < from || !bytes.HasSuffix(resource, []byte(end)) || bytes.IndexByte(resource[from:to], '"') >= 0 {
		return // updated_at is not the last attribute
	}
	w.omitted = append(w.omitted, span{began + from, began + to})
}

// config writes the values of a config as a member. A config's key needs no
// escaping.
func (w *snapshotWriter) config(resolved configs.Resolved) error {
	if w.Len() > 0 {
		w.WriteByte(',')
	}
	w.WriteString(`"` + resolved.Key + `":{"values":`)
	_, _ = w.Write(resolved.AppendValues(w.AvailableBuffer()))
	w.WriteByte('}')
	if w.Len() > maxSnapshot {
		return tooLargeSnapshot()
	}
	return nil
}

func tooLargeSnapshot() error {
	return fault.New(fault.InvalidParameter, "include asks for a snapshot of more than %d MiB. Ask for fewer parts, and for single configs at /api/v1/configs/{id}/resolved.",
		maxSnapshot>>20).At(fault.Parameter("include"))
}
