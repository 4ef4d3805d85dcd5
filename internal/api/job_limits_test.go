package api_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/jobs"
)

// addTotal pretends that the account has more of something that is counted.
func (c client) addTotal(what string, more int) {
	c.t.Helper()
	account := c.get(accountPath).want(200).data().ID
	result, err := c.node.Database.Raw(c.t).ExecContext(c.t.Context(),
		`UPDATE account_totals SET amount = amount + $1 WHERE what = $2 AND account_id = $3`, more, what, account)
	if err != nil {
		c.t.Fatal(err)
	}
	if changed, err := result.RowsAffected(); err != nil || changed != 1 {
		c.t.Fatalf("%d totals are of %s, %v", changed, what, err)
	}
}

// TestJob_ConfigurationBytesLimit: the largest jobs that an account may have
// are listed on one page.
func TestJob_ConfigurationBytesLimit(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	const size = 1 << 18
	large := attributes{"body": strings.Repeat("x", size)}
	full := problem{code: "row_limit_reached", meta: map[string]any{"limit_key": "jobs.configuration_bytes", "maximum": float64(jobs.MaxConfigurationBytes)}}
	small := owner.makeJob("small", nil)
	owner.post(jobsPath, envelope("job", "large", sendingTo(nowhere, large))).want(201)
	owner.addTotal("job configuration bytes", jobs.MaxConfigurationBytes-2*size)
	owner.post(jobsPath, envelope("job", "one-more", sendingTo(nowhere, large))).refused(409, full)
	owner.put(small, envelope("job", "", sendingTo(nowhere, large))).refused(409, full)
	if got := owner.get(jobsPath).want(200); len(got.ids()) != 2 || len(got.body) < size {
		t.Errorf("got %d jobs in %d bytes", len(got.ids()), len(got.body))
	}
	owner.delete(jobsPath + "/large").want(204)
	owner.put(small, envelope("job", "", sendingTo(nowhere, large))).want(200)
	owner.put(small, envelope("job", "", job(nil))).want(200) // a smaller configuration frees its bytes
	owner.post(jobsPath, envelope("job", "one-more", sendingTo(nowhere, large))).want(201)
}

func TestJob_RowLimit(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(_ *testing.T, owner client) {
		path := owner.makeJob("first", nil)
		owner.addTotal("jobs", jobs.MaxJobs-2)
		owner.makeJob("last", nil)
		owner.post(jobsPath, envelope("job", "one-more", job(nil))).
			refused(409, problem{code: "row_limit_reached", meta: map[string]any{"limit_key": "jobs.job_rows", "maximum": float64(jobs.MaxJobs)}})
		owner.put(path, envelope("job", "", sendingTo(nowhere+"x", nil))).want(200)
		owner.delete(path).want(204)
		owner.makeJob("one-more", nil)
	})
}
