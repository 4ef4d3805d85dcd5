package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/signalbox/signalbox/internal/sealed"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store"
)

// Verdict is the result of one check of a doctor.
type Verdict string

// The verdicts.
const (
	Healthy  Verdict = "ok"
	Doubtful Verdict = "warning"
	Broken   Verdict = "problem"
)

// Finding is the result of one check, and advice if something is wrong.
type Finding struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	Detail  string  `json:"detail"`
}

const (
	// littleSpace is the free disk space below which the doctor warns.
	littleSpace = 1 << 30
	// tolerableOffset is the largest clock error without a finding. Jobs fire by the clock.
	tolerableOffset = 2 * time.Second
	doctorPatience  = 5 * time.Second
)

// doctor collects findings. It changes nothing.
type doctor struct {
	settings settings.Settings
	findings []Finding
}

// Examine checks everything that a server with these settings needs. url is the URL at which users reach the server;
// "" means the public URL.
func Examine(ctx context.Context, s settings.Settings, url string) []Finding {
	d := &doctor{settings: s}
	d.folder()
	d.database(ctx)
	d.port(ctx)
	if url == "" {
		url = s.PublicURL
	}
	if url != "" {
		d.reach(ctx, url)
	}
	return d.findings
}

func (d *doctor) find(name string, verdict Verdict, format string, args ...any) {
	d.findings = append(d.findings, Finding{name, verdict, fmt.Sprintf(format, args...)})
}

// folder checks the data folder and its disk.
func (d *doctor) folder() {
	folder := d.settings.Data
	probe, err := os.CreateTemp(folder, ".signalbox-doctor-*.tmp")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.find("data folder", Doubtful, "%s does not exist yet; the first start makes it", folder)
		return
	case err != nil:
		d.find("data folder", Broken, "%s cannot be written (%v): give it to the user that the server runs as", folder, err)
		return
	}
	_ = errors.Join(probe.Close(), os.Remove(probe.Name())) // creating it was the check
	free, known := freeSpace(folder)
	switch {
	case !known:
		d.find("data folder", Healthy, "%s can be written", folder)
	case free < littleSpace:
		d.find("data folder", Doubtful, "%s has %d MiB left: make room, or keep less with SIGNALBOX_RETENTION", folder, free>>20)
	default:
		d.find("data folder", Healthy, "%s can be written and has %d GiB left", folder, free>>30)
	}
}

// database checks the database, its schema, the key ring, the clock and the retention.
func (d *doctor) database(ctx context.Context) {
	s := d.settings
	if s.Database == "" && !HasDatabase(s) {
		d.find("database", Doubtful, "there is none in %s yet; the first start makes it", s.Data)
		return
	}
	if s.Database == "" && store.RestoreInterrupted(filepath.Join(s.Data, databaseFile)) {
		d.find("database", Doubtful, "a restore in %s is not complete: the next start of the server completes it", s.Data)
		return
	}
	db, err := store.Open(ctx, store.Options{Database: s.Database, File: filepath.Join(s.Data, databaseFile), Log: slog.New(slog.DiscardHandler)})
	if err == nil {
		defer func() { _ = db.Close() }() // only read
		err = db.Ping(ctx)
	}
	if err != nil {
		d.find("database", Broken, "%s does not answer (%v): is it running, and is SIGNALBOX_DATABASE right?", databaseName(s), err)
		return
	}
	d.find("database", Healthy, "%s answers", databaseName(s))
	if s.Database != "" {
		d.connections(ctx, db)
	}
	if db.Pooled() {
		d.find("pooler", Doubtful, "%s", behindPooler)
	}
	current := d.schema(ctx, db)
	d.ring(ctx, db)
	if current { // an older schema lacks the tables of these checks
		d.clock(ctx, db)
		d.retention(ctx, db)
	}
}

// behindPooler is the advice about a pooler.
const behindPooler = "PostgreSQL is behind a pooler such as PgBouncer, so statements are not prepared by name, and with transaction pooling " +
	"changes of other nodes arrive up to 0.4 s later: connect nodes to PostgreSQL directly if you can"

// connections reports for how many nodes the database has enough connections.
func (d *doctor) connections(ctx context.Context, db *store.DB) {
	each := d.settings.DatabaseConnections
	allowed, err := db.MaxConnections(ctx)
	switch {
	case err != nil:
		d.find("connections", Broken, "asking for max_connections failed: %v", err)
	case allowed < each:
		d.find("connections", Broken, "PostgreSQL allows %d, and this node opens up to %d: raise max_connections, or lower SIGNALBOX_DATABASE_CONNECTIONS", allowed, each)
	case allowed < 2*each:
		d.find("connections", Doubtful, "PostgreSQL allows %d, which is enough for one node that opens up to %d: raise max_connections, or lower SIGNALBOX_DATABASE_CONNECTIONS, before you start a second", allowed, each)
	default:
		d.find("connections", Healthy, "PostgreSQL allows %d, enough for %d nodes that open up to %d each", allowed, allowed/each, each)
	}
}

func (d *doctor) schema(ctx context.Context, db *store.DB) (current bool) {
	if err := db.Migrated(ctx); err != nil {
		d.find("schema", Doubtful, "it is not up to date (%v): a start, or signalbox admin migrate, brings it up to date", err)
		return false
	}
	d.find("schema", Healthy, "it has every step that this program needs")
	return true
}

// ring checks that the key ring decrypts the values of the database.
func (d *doctor) ring(ctx context.Context, db *store.DB) {
	used, err := db.HasSeal(ctx)
	if err == nil && !used {
		d.find("key ring", Healthy, "nothing is sealed yet")
		return
	}
	var ring *sealed.Ring
	if err == nil {
		ring, err = namedRing(d.settings)
	}
	if err == nil && ring == nil {
		ring, err = sealed.OpenFile(filepath.Join(d.settings.Data, keyringFile))
	}
	if err == nil {
		err = db.CheckSeal(ctx, ring)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, sealed.ErrUnknownKey), errors.Is(err, sealed.ErrCorrupt):
		d.find("key ring", Broken, "%v: restore the ring of this database, or name it with SIGNALBOX_KEYRING", err)
		return
	case err != nil:
		d.find("key ring", Broken, "%v", err)
		return
	}
	d.find("key ring", Healthy, "it decrypts the values of the database; the primary key is %s", ring.Primary())
}

// clock compares this machine's clock with the database's, as a server does.
func (d *doctor) clock(ctx context.Context, db *store.DB) {
	compared := newClock(db, slog.New(slog.DiscardHandler), time.Now)
	stored, err := db.Clock(ctx)
	if err == nil {
		err = compared.compare(ctx)
	}
	difference, _ := compared.difference()
	switch stopped := time.Since(stored); {
	case err != nil:
		d.find("clock", Broken, "asking the database for the time failed: %v", err)
	case difference.Abs() > maxDifference:
		d.find("clock", Broken, "it is %s: synchronize it with NTP; until then a server here is not ready, fires nothing and removes nothing", compared.compared(difference))
	case difference.Abs() > tolerableOffset:
		d.find("clock", Broken, "it is %s: synchronize both with NTP; jobs fire by it", compared.compared(difference))
	case stopped > longStop && !stored.IsZero():
		d.find("clock", Doubtful, "it is %s ahead of the newest time that is stored: if no server was stopped for that long, it is wrong", spelledDays(stopped))
	default:
		d.find("clock", Healthy, "it agrees with the database's")
	}
}

// retention reports whether the removal of old rows is slowed down for now.
func (d *doctor) retention(ctx context.Context, db *store.DB) {
	until, err := db.CatchingUp(ctx)
	switch {
	case err != nil:
		d.find("retention", Broken, "asking the database whether it is limited failed: %v", err)
	case until != nil:
		d.find("retention", Doubtful, "many rows are past their retention, and are removed slowly until %s: check that the date is right", until.Format(time.RFC3339))
	default:
		d.find("retention", Healthy, "rows past it are removed at the next round")
	}
}

// port checks the address that the server listens on.
func (d *doctor) port(ctx context.Context) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", d.settings.Listen)
	if err == nil {
		_ = listener.Close() // binding it was the check
		d.find("port", Healthy, "%s is free; no server runs there", d.settings.Listen)
		return
	}
	scheme := "http"
	if d.settings.TLSCert != "" {
		scheme = "https"
	}
	if err := ready(ctx, scheme+"://"+d.settings.Listen); err != nil {
		d.find("port", Broken, "%s is taken, and not by a server that is ready (%v): stop that program, or listen elsewhere with SIGNALBOX_LISTEN", d.settings.Listen, err)
		return
	}
	d.find("port", Healthy, "a server is ready on %s", d.settings.Listen)
}

// reach checks that a ready server answers at the URL of the users.
func (d *doctor) reach(ctx context.Context, url string) {
	if err := ready(ctx, url); err != nil {
		d.find("reachability", Broken, "%s: %v: check the proxy, the name and the certificate", url, err)
		return
	}
	d.find("reachability", Healthy, "a server is ready at %s", url)
}

// ready returns nil if the server at a URL is ready.
func ready(ctx context.Context, base string) error {
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/readiness", nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers %s", response.Status)
	}
	var said struct {
		Meta struct {
			Status string `json:"status"`
		} `json:"meta"`
	}
	const enough = 1 << 10
	if err := json.NewDecoder(io.LimitReader(response.Body, enough)).Decode(&said); err != nil || said.Meta.Status != "ready" {
		return errors.New("the server that answers there is not Signalbox")
	}
	return nil
}
