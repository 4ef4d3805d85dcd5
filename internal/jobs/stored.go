package jobs

import (
	"context"

	"github.com/signalbox/signalbox/internal/fault"
)

// What an account may store: a page of the list has a thousand jobs, and all of
// it is in memory at once.
const (
	// MaxJobs bounds the jobs of an account.
	MaxJobs = 10_000
	// MaxConfigurationBytes bounds their configurations together, as JSON.
	MaxConfigurationBytes = 32 << 20

	jobRows            = "jobs.job_rows"
	configurationBytes = "jobs.configuration_bytes"
)

// Stored is what the jobs of an account take.
type Stored struct{ Jobs, ConfigurationBytes int }

// checkStored refuses a write after which an account has too much.
func checkStored(ctx context.Context, tx Tx, account string) error {
	stored, err := tx.Stored(ctx, account)
	switch {
	case err != nil:
		return err
	case stored.Jobs > MaxJobs:
		return fault.New(fault.RowLimitReached, "An account may have %d jobs. Delete some that are not used.", MaxJobs).
			With("limit_key", jobRows).With("maximum", MaxJobs)
	case stored.ConfigurationBytes > MaxConfigurationBytes:
		return fault.New(fault.RowLimitReached, "The configurations of an account's jobs may have %d bytes together. Shorten bodies, or delete jobs that are not used.",
			MaxConfigurationBytes).With("limit_key", configurationBytes).With("maximum", MaxConfigurationBytes)
	}
	return nil
}
