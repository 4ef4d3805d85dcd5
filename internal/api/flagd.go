package api

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/connections"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/flagd"
	"github.com/signalbox/signalbox/internal/flags"
)

// flagdService is the prefix of flagd's gRPC methods.
const flagdService = "/flagd.sync.v1.FlagSyncService/"

// flagdSelector is the header in which flagd's providers name the flags that they want.
const flagdSelector = "Flagd-Selector"

// The fields of flagd's messages.
const (
	selectorField      = 2 // of SyncFlagsRequest and FetchAllFlagsRequest
	configurationField = 1 // of their responses
)

// syncInterval is the shortest time between two messages of a stream. syncRetry is the time between two attempts to read the flags
// while the database is away.
const (
	syncInterval = 100 * time.Millisecond
	syncRetry    = time.Second
)

// syncRequest is a parsed selector.
type syncRequest struct{ key, environment string }

// readSync reads the message of a request and its selector. Providers that cannot send headers have the key in the selector.
func (c *call) readSync() error {
	message, err := readMessage(c.request)
	if err != nil {
		return err
	}
	fields, err := texts(message)
	if err != nil {
		return err
	}
	c.sync, err = parseSelector(cmp.Or(header(c.request, flagdSelector), fields[selectorField]))
	return err
}

// parseSelector parses a selector such as key=sk_api_…,environment=production. No error quotes the selector, because it may
// contain a key.
func parseSelector(selector string) (wanted syncRequest, err error) {
	if selector == "" {
		return wanted, nil
	}
	for part := range strings.SplitSeq(selector, ",") {
		name, value, _ := strings.Cut(part, "=")
		switch value = strings.TrimSpace(value); strings.TrimSpace(name) {
		case "key":
			wanted.key = value
		case "environment":
			wanted.environment = value
		default:
			return wanted, fault.New(fault.Validation, "The selector must be a list such as key=KEY,environment=production. Both parts may be left out.")
		}
	}
	return wanted, nil
}

// flagdFlags serves the flags of an environment as JSON.
func (a *API) flagdFlags(c *call) (reply, error) {
	c.sync.environment = c.request.PathValue("environment")
	key, err := a.flagdKey(c)
	if err != nil {
		return reply{}, err
	}
	document, since, err := a.flagdDocument(c.ctx(), key, c.caller.Version, c.stale)
	if err != nil {
		return reply{}, err
	}
	answer := document.reply(c, since)
	answer.mediaType = plainJSON
	return answer, nil
}

// flagdKey returns the key of the snapshot that the caller asks for, if the caller may have it.
func (a *API) flagdKey(c *call) (snapshotKey, error) {
	environment := cmp.Or(c.sync.environment, header(c.request, environmentHeader))
	if environment == "" && len(c.caller.Environments) == 1 {
		environment = c.caller.Environments[0]
	}
	if environment == "" {
		return snapshotKey{}, fault.New(fault.Validation, "Name an environment in the selector, as environment=production, or use a key restricted to one.")
	}
	if err := c.caller.RequireRules(environment); err != nil {
		return snapshotKey{}, err
	}
	if !environments.IsKey(environment) {
		return snapshotKey{}, fault.Missing("environment", environment)
	}
	if !c.stale {
		if _, err := a.Environments.Environment(c.ctx(), c.caller, environment); err != nil && !isAway(c.ctx(), err) {
			return snapshotKey{}, err
		}
	}
	return snapshotKey{account: c.caller.Account, environment: environment, parts: SnapshotParts{Flags: true}, flagd: true}, nil
}

// flagdDocument returns a document of the given version or a newer one. While the database is away, it returns the document in
// memory, and the time at which that document was last known to be current.
func (a *API) flagdDocument(ctx context.Context, key snapshotKey, version int64, stale bool) (*encodedSnapshot, time.Time, error) {
	return a.loadedOrHeld(ctx, stale, key, func(ctx context.Context) (*encodedSnapshot, error) {
		return a.loaded.get(ctx, key, version)
	})
}

// readFlagd reads the flags of an environment and translates them.
func readFlagd(ctx context.Context, source SnapshotSource, key snapshotKey) (*encodedSnapshot, error) {
	found, err := source.Snapshot(ctx, key.account, key.environment, key.parts, nil)
	if err != nil {
		return nil, err
	}
	translated := make([]flagd.Flag, len(found.Flags))
	for i, flag := range found.Flags {
		translated[i] = flagdFlag(flag, key.environment)
	}
	document, err := flagd.Translate(key.environment, translated)
	switch {
	case err != nil:
		return nil, err
	case len(document.Text) > maxSnapshot:
		return nil, fault.New(fault.Validation, "The flags of this environment have more than %d MiB in the format of flagd.", maxSnapshot>>20)
	}
	return newEncodedSnapshot(found.Seq, document.Text, span{}), nil
}

// flagdFlag returns a flag for the translation.
func flagdFlag(flag flags.Flag, environment string) flagd.Flag {
	made := flagd.Flag{Key: flag.Key, Type: flag.Type, Default: flag.Default, Environment: flageval.Environment{Enabled: true}, Sent: flag.Sent()}
	if configured, has := flag.Environments[environment]; has {
		made.Environment = flageval.Environment{Enabled: configured.Enabled, Default: configured.Default}
		for _, rule := range configured.Rules {
			made.Rules = append(made.Rules, flageval.Rule{Description: rule.Description, Logic: rule.Logic, Value: rule.Value})
		}
	}
	return made
}

// fetchAllFlags sends the flags once.
func (a *API) fetchAllFlags(c *call) (reply, error) {
	key, err := a.flagdKey(c)
	if err != nil {
		return reply{}, err
	}
	document, _, err := a.flagdDocument(c.ctx(), key, c.caller.Version, c.stale)
	if err != nil {
		return reply{}, err
	}
	return reply{raw: http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) {
		w := writer.(*recorder)                                                                                         // ServeHTTP always passes a recorder
		if w.beginRPC() == nil && w.startMessage() == nil && w.writeMessage(configurationField, document.text) == nil { // else the caller left
			w.endWithStatus(grpcOK, "")
		}
	})}, nil
}

// syncMetadata refuses a method that flagd has deprecated. It needs no key, because some providers send none there. It reads the
// message first: a stream that is answered before its request has ended is reset, and callers such as curl then show no answer.
func (a *API) syncMetadata(c *call) (reply, error) {
	if _, err := readMessage(c.request); err != nil {
		return reply{}, err
	}
	return reply{raw: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.(*recorder).endWithStatus(grpcUnimplemented, "This server has no sync metadata. SyncFlags sends all flags.")
	})}, nil
}

// syncFlags sends the flags, and again after every change.
func (a *API) syncFlags(c *call) (reply, error) {
	key, err := a.flagdKey(c)
	if err != nil {
		return reply{}, err
	}
	watching := connections.Watching{
		Peer:     connections.Peer{Client: c.request.UserAgent(), Environment: &key.environment},
		Concerns: key.parts.has,
		Permits:  func(caller accounts.Caller) error { return caller.RequireRules(key.environment) },
	}
	watch, err := a.Events.Watch(c.ctx(), c.caller, watching, func(ctx context.Context) (accounts.Caller, error) {
		again := &call{request: c.request, writer: c.writer, sync: c.sync}
		err := a.identify(ctx, syncsRPC(), again)
		c.caller, c.stale = again.caller, again.stale
		return again.caller, cmp.Or(err, watching.Permits(again.caller))
	})
	if err != nil {
		return reply{}, err
	}
	document, _, err := a.flagdDocument(c.ctx(), key, max(c.caller.Version, watch.Seq()), c.stale)
	if err != nil {
		watch.Close()
		return reply{}, err
	}
	return reply{raw: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer watch.Close()
		stream := &flagdStream{api: a, key: key, watch: watch, w: w.(*recorder)}
		stream.run(r.Context(), document)
	})}, nil
}
