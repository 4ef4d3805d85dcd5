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

// WarnSimilar warns of a new key that is easily mistaken for an existing one.
func WarnSimilar(ctx context.Context, tx Keys, problems *fault.Problems, account, kind, key string) error {
	similar, err := tx.SimilarKey(ctx, account, kind, key)
	if err == nil && similar != "" {
		problems.Warn(fault.Pointer("/data/id"), `There is a %s %q already, and the two ids differ only by case or by "-", "_" and ".". Delete one if both are meant to be the same.`,
			strings.ReplaceAll(kind, "_", " "), similar)
	}
	return err
}
