package connections

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/transaction"
)

// Kind is the JSON:API type of a connection.
const Kind = "connection"

// maxClient is how many bytes of a User-Agent are kept.
const maxClient = 255

// Peer describes a client as the client describes itself.
type Peer struct {
	Service, Environment *string // nil if the client does not name it
	Client               string  // the User-Agent
}

// Subscription describes the events that a client wants.
type Subscription struct {
	Peer
	// Since is the sequence number after which to resume; nil if the client names none.
	Since *string
	// AllTopics also requests the events of resources that running services do not use.
	AllTopics bool
}

// Following describes an OFREP event stream that a client wants.
type Following struct {
	Environment string
	// LastEventID is the id of the last event that the client has received; empty if it has received none.
	LastEventID string
}

// Watching describes a response that follows changes.
type Watching struct {
	Peer
	// Concerns reports whether changes of a kind matter to the response.
	Concerns func(kind string) bool
	// Permits refuses a caller who may not have the response.
	Permits func(accounts.Caller) error
}

// Connection is a client that follows changes: an event socket, a Watch, or a program that polls.
type Connection struct {
	ID          string    `json:"-"` // a UUIDv7
	Account     string    `json:"-"`
	Service     *string   `json:"service"`
	Environment *string   `json:"environment"`
	Client      string    `json:"client"`
	ConnectedAt time.Time `json:"connected_at"`
	Node        string    `json:"node"`
	// Seq is the sequence number of the last change that was sent. At first it is the number at
	// which the stream began.
	Seq int64 `json:"seq"`
}

// New returns a connection that begins now.
func New(account string, peer Peer, now time.Time) *Connection {
	return &Connection{ID: uuid.Must(uuid.NewV7()).String(), Account: account, Service: peer.Service, Environment: peer.Environment,
		Client: printable(peer.Client), ConnectedAt: now.UTC().Truncate(time.Microsecond)}
}

// printable returns the first maxClient bytes of a text, without unprintable characters.
func printable(text string) string {
	return naming.Printable(strings.ToValidUTF8(text[:min(len(text), maxClient)], ""))
}

// Watch is a response that follows changes. It counts as an event socket.
type Watch interface {
	// Seq returns the last change that concerns the response.
	Seq() int64
	// Changed receives a value after Seq has changed.
	Changed() <-chan struct{}
	// Sent notes that the response includes every change up to a number.
	Sent(seq int64)
	// Ended is closed when the response must end. Err is then the reason.
	Ended() <-chan struct{}
	Err() error
	// Close ends the watch, which then no longer counts as a socket. It must be called once.
	Close()
}

// ReadTx has the reads of this package.
type ReadTx interface {
	// Connections returns the connections of an account on live nodes, newest first. If before
	// is not empty, it returns only connections older than that id.
	Connections(ctx context.Context, account, before string, size int) (page.Tail[Connection], error)
}

// Tx has the writes of a Recorder.
type Tx interface {
	// SaveConnections inserts connections of a boot. For existing ones, it updates the Seq.
	SaveConnections(ctx context.Context, boot string, saved []Connection) error
	RemoveConnections(ctx context.Context, boot string, ids []string) error
	// ClearConnections removes all connections of a boot.
	ClearConnections(ctx context.Context, boot string) error
	CountConnections(ctx context.Context, boot string) (int, error)
	// RemoveLostConnections removes up to limit connections of nodes that are no longer live.
	RemoveLostConnections(ctx context.Context, limit int) error
}

// Service lists connections.
type Service struct{ Store transaction.Reader[ReadTx] }

// Connections lists the connections of the caller's account, newest first.
func (s *Service) Connections(ctx context.Context, caller accounts.Caller, cursor page.Cursor) (page.Tail[Connection], error) {
	return transaction.Read(ctx, s.Store, func(ctx context.Context, tx ReadTx) (page.Tail[Connection], error) {
		return tx.Connections(ctx, caller.Account, cursor.After, cursor.Size)
	})
}
