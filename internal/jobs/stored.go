package jobs

import (
	"context"

	"github.com/signalbox/signalbox/internal/fault"
)

// Limits of an account: a page of the list has a thousand jobs, which are all in
// memory at once.
const (
	MaxJobs               = 10_000
	MaxConfigurationBytes = 32 << 20 // of all configurations together, as JSON
)

// Stored is the number of an account's jobs and the size of their configurations.
type Stored struct{ Jobs, ConfigurationBytes int }

// storeRequest stores the configuration of a job, and fails if the account then
// exceeds its limits.
func storeRequest(ctx context.Context, tx Tx, job Job) error {
	if err := tx.InsertJobRequest(ctx, job); err != nil {
		return err
	}
	stored, err := tx.Stored(ctx, job.Account)
	switch {
	case err != nil:
		return err
	case stored.Jobs > MaxJobs:
		return fault.RowLimit("jobs.job_rows", MaxJobs, "An account may have %d jobs. Delete some that are not used.", MaxJobs)
	case stored.ConfigurationBytes > MaxConfigurationBytes:
		return fault.RowLimit("jobs.configuration_bytes", MaxConfigurationBytes,
			"The configurations of an account's jobs may have %d bytes together. Shorten bodies, or delete jobs that are not used.", MaxConfigurationBytes)
	}
	return nil
}
