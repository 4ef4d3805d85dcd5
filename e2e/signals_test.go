package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

// slowRequest is a request whose body arrives late. begin returns when the server has asked for the
// body.
type slowRequest struct {
	connection net.Conn
	reader     *bufio.Reader
	body       string
}

func begin(t *testing.T, n *node, service string) *slowRequest {
	t.Helper()
	var dialer net.Dialer
	connection, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(n.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	if err := connection.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	slow := &slowRequest{connection, bufio.NewReader(connection), fmt.Sprintf(`{"data":{"type":"service","id":%q,"attributes":{}}}`, service)}
	slow.send(t, fmt.Sprintf("POST /api/v1/services HTTP/1.1\r\nHost: signalbox\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", ownerKey, len(slow.body)))
	line, err := slow.reader.ReadString('\n')
	if err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("the server answered %q, %v", line, err)
	}
	if _, err := slow.reader.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return slow
}

func (s *slowRequest) send(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(s.connection, text); err != nil {
		t.Fatal(err)
	}
}

// untilLogged waits until a server has logged a text. Its closed port would prove nothing, because another server may get
// the port.
func untilLogged(t *testing.T, n *node, text string) {
	t.Helper()
	end := time.Now().Add(patience)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for !strings.Contains(n.stderr.String(), text) {
		if time.Now().After(end) {
			t.Fatalf("the server has not logged %q but\n%s", text, n.stderr.String())
		}
		<-tick.C
	}
}

func TestSIGTERM_LetsRequestsFinish(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		n := start(t, database)
		slow := begin(t, n, "late")
		if err := n.command.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		untilLogged(t, n, "Signalbox is shutting down.")
		slow.send(t, slow.body)
		response, err := http.ReadResponse(slow.reader, nil)
		if err != nil || response.StatusCode != http.StatusCreated {
			t.Fatalf("the request that was begun got %v, %v", response, err)
		}
		response.Body.Close()
		if err := n.wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
		again := start(t, database)
		if status := again.get(t, "/api/v1/services/late"); status != http.StatusOK {
			t.Errorf("what was acknowledged while stopping gets %d", status)
		}
	})
}

func TestSIGTERM_CutsEndlessRequest(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		n := start(t, database, "SIGNALBOX_SHUTDOWN_TIMEOUT=300ms")
		begin(t, n, "never")
		began := time.Now()
		if err := n.signal(syscall.SIGTERM); err != nil {
			t.Errorf("the server ended with %v", err)
		}
		if took := time.Since(began); took < 300*time.Millisecond || took > patience/2 {
			t.Errorf("it took %s", took)
		}
		again := start(t, database)
		if status := again.get(t, "/api/v1/services/never"); status != http.StatusNotFound {
			t.Errorf("what never arrived gets %d", status)
		}
	})
}

// read asks for a path with the OWNER key.
func (n *node) read(t *testing.T, path string) answer {
	t.Helper()
	got, err := (&exchange{url: n.url, method: http.MethodGet, path: path, key: ownerKey}).send()
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// get asks for a path with the OWNER key and returns the status.
func (n *node) get(t *testing.T, path string) int {
	t.Helper()
	return n.read(t, path).status
}

// writer creates services one after the other until the server is gone, and
// remembers those that were acknowledged.
type writer struct {
	name         string
	acknowledged []string
}

func (w *writer) run(url string, acknowledge func()) {
	client := &http.Client{Transport: &http.Transport{}, Timeout: patience}
	defer client.CloseIdleConnections()
	for i := 0; ; i++ {
		id := fmt.Sprintf("%s-%d", w.name, i)
		request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url+"/api/v1/services",
			strings.NewReader(fmt.Sprintf(`{"data":{"type":"service","id":%q,"attributes":{}}}`, id)))
		if err != nil {
			return
		}
		request.Header.Set("Authorization", "Bearer "+ownerKey)
		response, err := client.Do(request)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, response.Body) // only the status matters
		response.Body.Close()
		if response.StatusCode == http.StatusCreated {
			w.acknowledged = append(w.acknowledged, id)
			acknowledge()
		}
	}
}

func TestKill_KeepsAcknowledgedWrites(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		var writers []writer
		for round := range suite.Scale(2, 10) {
			writers = append(writers, killWhileWriting(t, start(t, database), round)...)
		}
		checkKept(t, start(t, database), writers)
	})
}

// killWhileWriting lets writers run until the server has acknowledged enough writes, and kills it while all of them write.
func killWhileWriting(t *testing.T, n *node, round int) []writer {
	t.Helper()
	const count, enough = 8, 100
	acknowledged := make(chan struct{}, 1<<20) // never full, so that nobody waits after the kill
	writers := make([]writer, count)
	var running sync.WaitGroup
	for i := range writers {
		writers[i].name = fmt.Sprintf("w%d-%d", round, i)
		running.Go(func() { writers[i].run(n.url, func() { acknowledged <- struct{}{} }) })
	}
	for range enough {
		select {
		case <-acknowledged:
		case <-time.After(patience):
			t.Fatal("the server acknowledges nothing")
		}
	}
	if err := n.signal(syscall.SIGKILL); err == nil {
		t.Error("the server survived SIGKILL")
	}
	running.Wait()
	return writers
}

// checkKept compares the acknowledged services with the stored ones. Each writer had one request in flight, which may
// have been carried out. Every stored write has its change, and every change its write.
func checkKept(t *testing.T, n *node, writers []writer) {
	t.Helper()
	total := 0
	for _, each := range writers {
		total += len(each.acknowledged)
		for _, id := range each.acknowledged {
			if status := n.get(t, "/api/v1/services/"+id); status != http.StatusOK {
				t.Errorf("%s was acknowledged and gets %d", id, status)
			}
		}
	}
	var document struct {
		Meta struct{ Pagination struct{ Total int } }
	}
	if err := json.Unmarshal([]byte(n.read(t, "/api/v1/services?meta[total]=true&page[size]=1").body), &document); err != nil {
		t.Fatal(err)
	}
	kept := document.Meta.Pagination.Total
	if kept < total || kept > total+len(writers) {
		t.Errorf("%d were acknowledged, %d are there", total, kept)
	}
	if recorded := n.recordedServices(t); recorded != kept {
		t.Errorf("%d services and %d changes of services are there", kept, recorded)
	}
}

// recordedServices counts the changes of services in the history.
func (n *node) recordedServices(t *testing.T) (count int) {
	t.Helper()
	for next := "/api/v1/changes?page[size]=1000"; next != ""; {
		var list struct {
			Data  []struct{ Attributes struct{ Kind string } }
			Links struct{ Next string }
		}
		if err := json.Unmarshal([]byte(n.read(t, next).body), &list); err != nil {
			t.Fatal(err)
		}
		for _, change := range list.Data {
			if change.Attributes.Kind == "service" {
				count++
			}
		}
		next = strings.TrimPrefix(list.Links.Next, n.url)
	}
	return count
}

// Nodes that start on an empty database at the same time agree on who makes
// the first account. They share a folder, as they share the key ring.
func TestBootstrap_NodesStartTogether(t *testing.T) {
	t.Parallel()
	database := storetest.NewEmpty(t, "postgres")
	const count = 4
	started := make([]*node, count)
	failed := make([]error, count)
	var running sync.WaitGroup
	for i := range count {
		running.Go(func() {
			started[i], failed[i] = startNode(database.Dir, []string{
				"SIGNALBOX_LISTEN=127.0.0.1:0", "SIGNALBOX_DATA=" + database.Dir, "SIGNALBOX_DATABASE=" + database.URL, fmt.Sprintf("SIGNALBOX_NODE=n%d", i),
			}, nil)
		})
	}
	running.Wait()
	printed := 0
	for i, n := range started {
		if failed[i] != nil {
			t.Errorf("%v\n%s", failed[i], n.stderr.String())
			continue
		}
		if strings.Contains(n.printed(), "sk_api_") {
			printed++
		}
		if err := n.signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	}
	if printed != 1 {
		t.Errorf("%d of %d nodes printed a key", printed, count)
	}
}
