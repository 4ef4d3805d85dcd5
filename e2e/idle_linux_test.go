package e2e

import (
	"database/sql"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

// TestFaults_IdleTransaction: somebody leaves a transaction open that holds the lock of an account and an old snapshot, under make
// soak for ten minutes. The node stays ready, evaluates for the account, and fires jobs and writes for others. The account is
// written again when the transaction ends.
func TestFaults_IdleTransaction(t *testing.T) {
	t.Parallel()
	database, target := storetest.New(t, "postgres"), newSink(t)
	n := start(t, database, "SIGNALBOX_ALLOW_NETWORKS=127.0.0.0/8")
	other := otherAccount(t, database, "pro")
	flag := `{"data":{"type":"flag","id":"checkout","attributes":{"type":"BOOLEAN","default":false}}}`
	if _, err := post(http.DefaultClient, n.url+"/api/v1/flags", flag); err != nil {
		t.Fatal(err)
	}
	tx, err := database.Raw(t).BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "SELECT 1 FROM accounts WHERE name <> 'other' FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	fired := 0
	for began := time.Now(); time.Since(began) < suite.Scale(time.Second, 10*time.Minute); fired++ {
		n.evaluate(t)
		if status := n.get(t, "/api/readiness"); status != http.StatusOK {
			t.Errorf("the readiness is %d", status)
		}
		job := newJob(fmt.Sprint("now-", fired), "now", target.URL)
		if status, body := ask(http.DefaultClient, http.MethodPost, n.url+"/api/v1/jobs", other, job); status != http.StatusCreated {
			t.Fatalf("a write of another account got %d %s", status, body)
		}
		storetest.Wait(t, patience, "its job has fired", func() bool { return len(target.all()) == fired+1 })
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	n.writeAgain(t)
	t.Logf("%d jobs of another account fired meanwhile", fired)
}
