package api_test

import (
	"encoding/pem"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// nowhere is a URL that no request of a test reaches: the address is not public.
const nowhere = "http://10.0.0.1/"

// far is a schedule that does not fire during a test, but for one minute a year.
const far = "59 23 31 12 *"

// job returns the attributes of a job that fires once a year and reaches nothing, and further
// attributes.
func job(more attributes) attributes {
	wanted := attributes{"name": "A job", "schedule": far, "configuration": attributes{"url": nowhere}}
	maps.Copy(wanted, more)
	return wanted
}

// sendingTo returns a job with a configuration.
func sendingTo(url string, more attributes) attributes {
	configuration := attributes{"url": url}
	maps.Copy(configuration, more)
	return job(attributes{"configuration": configuration})
}

// replacing returns a body for a PUT of the resource at a path, with a new name. Only the
// type differs by resource: unknown attributes are ignored.
func replacing(path, name string) string {
	if strings.HasPrefix(path, jobsPath+"/") {
		return envelope("", "", job(attributes{"name": name}))
	}
	if strings.HasPrefix(path, webhooksPath+"/") {
		return envelope("", "", hook(attributes{"name": name}))
	}
	return envelope("", "", boolean(false, attributes{"name": name}))
}

// makeJob creates a job and returns its path.
func (c client) makeJob(key string, more attributes) string {
	c.t.Helper()
	c.post(jobsPath, envelope("job", key, job(more))).want(201)
	return jobsPath + "/" + key
}

func aJob(owner client) string { return owner.makeJob(unique("job"), nil) }

// creatingJob posts a job with a new key.
func creatingJob(client) (path, body string) {
	return jobsPath, envelope("job", unique("job"), job(nil))
}

// aRun returns a run that has ended: SSRF_BLOCKED.
func aRun(owner client) string {
	run := owner.run(aJob(owner))
	owner.finished(run)
	return runsPath + "/" + run
}

// aHeldRun returns a run that has started and does not end by itself.
func aHeldRun(owner client) string {
	sink := newSink(owner.t)
	run := owner.run(owner.makeJob(unique("job"), sendingTo(sink.hold(), nil)))
	sink.take(owner.t)
	return runsPath + "/" + run
}

// run queues a run of a job and returns its id.
func (c client) run(job string) string {
	c.t.Helper()
	return c.post(job+"/actions/run", "").want(200).data().ID
}

// patience is how long a busy machine may take for what should be at once.
const patience = time.Minute

// finished waits for the end of a run and returns it.
func (c client) finished(run string) answer {
	c.t.Helper()
	var got answer
	eventually(c.t, patience, "the run "+run+" ends", func() bool {
		got = c.get(runsPath + "/" + run).want(200)
		return got.attribute("finished_at") != nil
	})
	return got
}

// ran runs a job once and returns the run when it has ended.
func (c client) ran(job string) answer {
	c.t.Helper()
	return c.finished(c.run(job))
}

// runsOf returns the runs of a job, newest first.
func (c client) runsOf(key string) []resource {
	c.t.Helper()
	return c.get(runsPath + "?filter[job]=" + key).want(200).page().Data
}

// fired waits until a job has some number of runs and all have ended.
func (c client) fired(key string, count int) []resource {
	c.t.Helper()
	var runs []resource
	eventually(c.t, patience, key+" has run", func() bool {
		runs = c.runsOf(key)
		ended := 0
		for _, run := range runs {
			if run.Attributes["finished_at"] != nil {
				ended++
			}
		}
		return ended >= count
	})
	return runs
}

// member returns the value at a dotted path below an attribute.
func (a answer) member(path string) any {
	a.t.Helper()
	var at any = a.data().Attributes
	for name := range strings.SplitSeq(path, ".") {
		object, ok := at.(map[string]any)
		if !ok {
			a.t.Fatalf("%s: no %s in %s", a.what, path, a.body)
		}
		at = object[name]
	}
	return at
}

// outgoing is a request that reached a sink.
type outgoing struct {
	*http.Request

	body string
}

// sink is what jobs of a test call.
type sink struct {
	server   *httptest.Server
	requests chan outgoing
	released chan struct{}
	release  func()
}

// newSink answers /hold when it is released and everything else at once, as
// answer says; without one, with 200.
func newSink(t testing.TB, answer ...http.HandlerFunc) *sink {
	t.Helper()
	s := makeSink(answer...)
	s.server.Start()
	t.Cleanup(s.close)
	return s
}

// newTLSSink returns the same sink behind TLS, with a certificate of an unknown authority.
func newTLSSink(t testing.TB, answer ...http.HandlerFunc) *sink {
	t.Helper()
	s := makeSink(answer...)
	s.server.StartTLS()
	t.Cleanup(s.close)
	return s
}

func makeSink(answer ...http.HandlerFunc) *sink {
	s := &sink{requests: make(chan outgoing, 1000), released: make(chan struct{})}
	s.release = sync.OnceFunc(func() { close(s.released) })
	s.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.requests <- outgoing{r, string(body)}
		if r.URL.Path == "/hold" {
			select {
			case <-s.released:
			case <-r.Context().Done():
			}
			return
		}
		for _, each := range answer {
			each(w, r)
		}
	}))
	s.server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	return s
}

func (s *sink) close() {
	s.release()
	s.server.Close()
}

func (s *sink) url() string { return s.server.URL + "/" }

// hold returns a URL whose answer waits for the release.
func (s *sink) hold() string { return s.server.URL + "/hold" }

// take waits for the next request.
func (s *sink) take(t testing.TB) outgoing {
	t.Helper()
	select {
	case request := <-s.requests:
		return request
	case <-time.After(patience):
		t.Fatal("no request came")
		return outgoing{}
	}
}

// pemOf returns the certificate of a sink behind TLS.
func pemOf(t testing.TB, s *sink) string {
	t.Helper()
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.server.Certificate().Raw}))
}
