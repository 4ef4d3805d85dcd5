package connections

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/background"
	"github.com/signalbox/signalbox/internal/transaction"
)

const (
	// recordTimeout bounds the transaction of a slice, including its wait.
	recordTimeout = 3 * time.Second
	// sliceSize is how many connections one transaction writes.
	sliceSize = 500
	// thorough is the number of rounds between two complete checks.
	thorough = 10
)

// Recorder writes the connections of one node, as the package documentation describes.
type Recorder struct {
	Store transaction.Writer[Tx]
	// Each visits the connections of this node with their positions. The visitor must not
	// change a connection.
	Each     func(visit func(connection *Connection, seq int64))
	Boot     string        // the boot of this node, as in its heartbeats
	Node     string        // the name of this node
	Interval time.Duration // how often it writes
	Log      *slog.Logger

	written map[string]*row // by id
	round   int
	failing bool
	loop    background.Loop
}

// row is a connection that is stored.
type row struct {
	seq   int64
	round int // the last round in which it was open
}

// Start starts writing.
func (r *Recorder) Start(ctx context.Context) {
	r.loop.Start(ctx, func(ctx context.Context) { background.Every(ctx, r.Interval, r.Record) })
}

// Stop ends the recorder and removes the stored connections of this node.
func (r *Recorder) Stop(ctx context.Context) {
	r.loop.Stop()
	if len(r.written) == 0 {
		return
	}
	if err := r.write(ctx, func(ctx context.Context, tx Tx) error { return tx.ClearConnections(ctx, r.Boot) }); err != nil {
		r.Log.Warn("Removing this node's connections from the list failed; other nodes will do it.", "error", err)
	}
}

// Record stores the difference between the open and the stored connections.
func (r *Recorder) Record(ctx context.Context) {
	err := r.record(ctx)
	switch {
	case err != nil && !r.failing && ctx.Err() == nil:
		r.failing = true
		r.Log.Warn("Writing the list of connections failed; it is out of date until a write works again. Retrying.", "error", err)
	case err == nil && r.failing:
		r.failing = false
		r.Log.Info("Writing the list of connections works again.")
	}
}

func (r *Recorder) record(ctx context.Context) error {
	if r.written == nil {
		r.written = map[string]*row{}
	}
	r.round++
	if r.round%thorough == 0 {
		if err := r.check(ctx); err != nil {
			return err
		}
	}
	saved, gone := r.difference()
	for slice := range slices.Chunk(saved, sliceSize) {
		if err := r.write(ctx, func(ctx context.Context, tx Tx) error { return tx.SaveConnections(ctx, r.Boot, slice) }); err != nil {
			return err
		}
		for _, each := range slice {
			r.written[each.ID] = &row{each.Seq, r.round}
		}
	}
	for slice := range slices.Chunk(gone, sliceSize) {
		if err := r.write(ctx, func(ctx context.Context, tx Tx) error { return tx.RemoveConnections(ctx, r.Boot, slice) }); err != nil {
			return err
		}
		for _, id := range slice {
			delete(r.written, id)
		}
	}
	return nil
}

// difference returns the connections to write and the ids of connections to remove.
func (r *Recorder) difference() (saved []Connection, gone []string) {
	r.Each(func(connection *Connection, seq int64) {
		known := r.written[connection.ID]
		if known != nil {
			known.round = r.round
		}
		if known == nil || r.round%thorough == 0 && known.seq != seq {
			current := *connection
			current.Node, current.Seq = r.Node, seq
			saved = append(saved, current)
		}
	})
	for id, known := range r.written {
		if known.round != r.round {
			gone = append(gone, id)
		}
	}
	return saved, gone
}

// check starts over if the store has too few or too many rows of this node, for example because
// other nodes considered it lost. It also removes rows of lost nodes.
func (r *Recorder) check(ctx context.Context) error {
	return r.write(ctx, func(ctx context.Context, tx Tx) error {
		count, err := tx.CountConnections(ctx, r.Boot)
		if err != nil {
			return err
		}
		if count != len(r.written) {
			if err := tx.ClearConnections(ctx, r.Boot); err != nil {
				return err
			}
			r.written = map[string]*row{}
		}
		return tx.RemoveLostConnections(ctx, sliceSize)
	})
}

func (r *Recorder) write(ctx context.Context, fn func(context.Context, Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	return r.Store.Write(ctx, "", fn)
}
