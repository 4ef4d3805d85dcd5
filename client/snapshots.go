package signalbox

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// SnapshotPart is a part of a snapshot.
type SnapshotPart string

// The parts of a snapshot.
const (
	SnapshotFlags   SnapshotPart = "flags"
	SnapshotLevels  SnapshotPart = "levels" // loggers and log groups
	SnapshotConfigs SnapshotPart = "configs"
)

// ErrNotModified means that the caller already has the current snapshot.
var ErrNotModified = errors.New("signalbox: not modified")

// Snapshot has everything that a service needs in an environment, read at one moment. Flags and levels have only the
// configuration of this environment, and no observations.
type Snapshot struct {
	Resource // the id is the environment
	// Seq is the number of the last change in the snapshot. Follow events after it; see [EventParams.Since].
	Seq       int64
	Flags     []Flag
	Loggers   []Logger
	LogGroups []LogGroup
	// Configs are the values of every config, inherited ones included, by the config's key and the item's key.
	Configs map[string]map[string]json.RawMessage
	// StaleSince is when the server lost its database; the snapshot may be outdated since then. It is nil while the server
	// has its database.
	StaleSince *time.Time
}

// SnapshotParams select the parts of a snapshot.
type SnapshotParams struct {
	// Include are the parts to load; none loads all.
	Include []SnapshotPart
	// ETag is the ETag of the caller's snapshot. Get returns ErrNotModified while that snapshot is current.
	ETag string
}

// SnapshotsAPI loads snapshots for running services.
type SnapshotsAPI struct{ transport *transport }

// Get returns the snapshot of an environment, which need not exist yet, or ErrNotModified. With ErrNotModified, the
// snapshot has only ETag, StaleSince and Seq, which may be larger than before.
func (a SnapshotsAPI) Get(ctx context.Context, environment string, params SnapshotParams) (Snapshot, error) {
	r := get("snapshots", environment)
	if len(params.Include) > 0 {
		parts := make([]string, len(params.Include))
		for i, part := range params.Include {
			parts[i] = string(part)
		}
		r.query = url.Values{"include": {strings.Join(parts, ",")}}
	}
	r.ifNoneMatch = params.ETag
	var received snapshotDocument
	etag, err := a.transport.call(ctx, r, &received)
	if refused, ok := errors.AsType[*APIError](err); ok && refused.StatusCode == http.StatusNotModified {
		return unmodified(environment, refused.header), ErrNotModified
	}
	if err != nil {
		return Snapshot{}, err
	}
	return received.snapshot(etag), nil
}

// unmodified returns a snapshot with the members in the headers of a response without a body. Old servers send no
// Signalbox-Seq.
func unmodified(environment string, header http.Header) Snapshot {
	found := Snapshot{Resource: Resource{ID: environment, ETag: header.Get("ETag")}}
	found.Seq, _ = strconv.ParseInt(header.Get("Signalbox-Seq"), 10, 64)
	if age, err := strconv.ParseInt(header.Get("Age"), 10, 64); err == nil {
		found.StaleSince = new(time.Now().Add(-time.Duration(age) * time.Second).UTC())
	}
	return found
}

// snapshotDocument is a snapshot as it is sent.
type snapshotDocument struct {
	Data snapshotData `json:"data"`
	Meta snapshotMeta `json:"meta"`
}

type snapshotData struct {
	ID         string             `json:"id"`
	Type       string             `json:"type"`
	Attributes snapshotAttributes `json:"attributes"`
}

type snapshotAttributes struct {
	Seq       int64                     `json:"seq"`
	Flags     []item[Flag]              `json:"flags"`
	Loggers   []item[Logger]            `json:"loggers"`
	LogGroups []item[LogGroup]          `json:"log_groups"`
	Configs   map[string]snapshotConfig `json:"configs"`
}

type snapshotConfig struct {
	Values map[string]json.RawMessage `json:"values"`
}

type snapshotMeta struct {
	StaleSince *time.Time `json:"stale_since,omitempty"`
}

func (d snapshotDocument) snapshot(etag string) Snapshot {
	sent := d.Data.Attributes
	found := Snapshot{Resource: Resource{ID: d.Data.ID, ETag: etag}, Seq: sent.Seq, StaleSince: d.Meta.StaleSince, Configs: map[string]map[string]json.RawMessage{},
		Flags: itemsOf[Flag](sent.Flags), Loggers: itemsOf[Logger](sent.Loggers), LogGroups: itemsOf[LogGroup](sent.LogGroups)}
	for key, config := range sent.Configs {
		found.Configs[key] = config.Values
	}
	return found
}

// MarshalJSON writes the document that the server sends, without the ETag.
func (s Snapshot) MarshalJSON() ([]byte, error) {
	attributes := snapshotAttributes{Seq: s.Seq, Configs: make(map[string]snapshotConfig, len(s.Configs)), Flags: toItems(s.Flags, "flag"),
		Loggers: toItems(s.Loggers, "logger"), LogGroups: toItems(s.LogGroups, "log_group")}
	for key, values := range s.Configs {
		attributes.Configs[key] = snapshotConfig{values}
	}
	return json.Marshal(snapshotDocument{Data: snapshotData{ID: s.ID, Type: "snapshot", Attributes: attributes}, Meta: snapshotMeta{s.StaleSince}})
}

// UnmarshalJSON reads the document that the server sends, such as one that was saved to a file.
func (s *Snapshot) UnmarshalJSON(text []byte) error {
	var read snapshotDocument
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	if read.Data.ID == "" {
		return errNoResource
	}
	*s = read.snapshot("")
	return nil
}

func toItems[T interface{ id() string }](list []T, kind string) []item[T] {
	items := make([]item[T], len(list))
	for i, each := range list {
		items[i] = item[T]{ID: each.id(), Type: kind, Attributes: each}
	}
	return items
}
