package naming

import (
	"context"
	"strings"

	"github.com/signalbox/signalbox/internal/fault"
)

// Keys finds keys that are easily mistaken for others.
type Keys interface {
	// SimilarKey returns another key of a kind that differs only by case or by -, _ and .; "" if there is none.
	SimilarKey(ctx context.Context, account, kind, key string) (string, error)
}

// Words returns a kind as people read it, such as log group.
func Words(kind string) string { return strings.ReplaceAll(kind, "_", " ") }

// WarnSimilar warns of a new key that is easily mistaken for an existing one.
func WarnSimilar(ctx context.Context, tx Keys, problems *fault.Problems, account, kind, key string) error {
	similar, err := tx.SimilarKey(ctx, account, kind, key)
	if err == nil && similar != "" {
		problems.Warn(fault.Pointer("/data/id"), `Another %s has the id %q, which differs only by case or by "-", "_" and ".". Delete one if both are meant to be the same.`,
			Words(kind), similar)
	}
	return err
}
