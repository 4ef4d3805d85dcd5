package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/api"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/configs"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/telemetry"
)

// followed is an account that a test changes by counting, and the reads of it.
type followed struct {
	anybody
	seq, reads atomic.Int64
	fail       error
}

func (f *followed) Authenticate(context.Context, string, string) (accounts.Caller, error) {
	return accounts.Caller{Account: "a", KeyID: "k", Role: accounts.Viewer, Version: f.seq.Load()}, nil
}

func (f *followed) Snapshot(context.Context, string, string, api.SnapshotParts, func(configs.Resolved) error) (api.Snapshot, error) {
	f.reads.Add(1)
	return api.Snapshot{Seq: f.seq.Load()}, f.fail
}

// change records a change and passes it on as the feed does.
func (f *followed) change(a *api.API) {
	a.Hear(changes.Change{Account: "a", Seq: f.seq.Add(1), Kind: flags.Kind})
}

// startFollowing starts an interface to the account that nothing but a test changes.
func startFollowing(t *testing.T, of *followed) *api.API {
	t.Helper()
	handler := api.New(api.Services{Snapshots: of, Auth: of, FlagSnapshots: &flags.Snapshots{}, Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewMetrics("test")}, api.Options{})
	handler.Start(t.Context())
	t.Cleanup(handler.Stop)
	return handler
}

func load(t *testing.T, handler http.Handler) int {
	t.Helper()
	request := httptest.NewRequest(http.MethodGet, snapshotsPath+"/production", nil)
	request.Header.Set("Authorization", "Bearer x")
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder.Code
}

// TestRefresher_OncePerSecond: after the first change a used account is refreshed at once, and with
// a change every millisecond once a second.
func TestRefresher_OncePerSecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		account := &followed{}
		handler := startFollowing(t, account)
		account.change(handler)
		synctest.Wait()
		if got := account.reads.Load(); got != 0 {
			t.Fatalf("%d reads of what nobody asked for", got)
		}
		load(t, handler)
		<-time.After(2 * time.Second)
		account.change(handler)
		synctest.Wait()
		if got := handler.HeldSeq("a", "production"); got != 2 || account.reads.Load() != 2 {
			t.Fatalf("after a change it has %d, by %d reads", got, account.reads.Load())
		}
		for range 10_000 {
			<-time.After(time.Millisecond)
			account.change(handler)
		}
		if reads := account.reads.Load(); reads < 10 || reads > 13 {
			t.Errorf("%d reads in 10 s of a change every millisecond", reads)
		}
		<-time.After(time.Second)
		synctest.Wait()
		if got := handler.HeldSeq("a", "production"); got != account.seq.Load() {
			t.Errorf("a second later it has %d of %d", got, account.seq.Load())
		}
	})
}

// TestRefresher_OnlyWhatIsUsed: an account that nobody has asked for in a day is not refreshed.
func TestRefresher_OnlyWhatIsUsed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		account := &followed{}
		handler := startFollowing(t, account)
		load(t, handler)
		<-time.After(23 * time.Hour)
		account.change(handler)
		<-time.After(2 * time.Hour)
		account.change(handler)
		synctest.Wait()
		if reads := account.reads.Load(); reads != 2 {
			t.Errorf("%d reads, want the caller's and one", reads)
		}
	})
}

// TestRefresher_DropsWhatCannotBeMade: a snapshot whose newer version is refused must not
// be served in its place.
func TestRefresher_DropsWhatCannotBeMade(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		account := &followed{}
		handler := startFollowing(t, account)
		load(t, handler)
		account.fail = fault.New(fault.InvalidParameter, "too large")
		account.change(handler)
		synctest.Wait()
		if got := handler.HeldSeq("a", "production"); got != -1 {
			t.Errorf("it still has %d", got)
		}
	})
}

// tenants is many accounts, each the token of its caller; the snapshots of "large" take an eighth of
// the memory for all.
type tenants struct{ followed }

const largeSnapshot = 1 << 20

func (*tenants) Authenticate(_ context.Context, token, _ string) (accounts.Caller, error) {
	return accounts.Caller{Account: token, KeyID: "k", Role: accounts.Viewer}, nil
}

func (*tenants) Snapshot(_ context.Context, account, _ string, _ api.SnapshotParts, _ func(configs.Resolved) error) (api.Snapshot, error) {
	if account != "large" {
		return api.Snapshot{}, nil
	}
	return api.Snapshot{Flags: []flags.Flag{{Key: "f", Managed: true, Default: json.RawMessage(`"` + strings.Repeat("x", largeSnapshot) + `"`)}}}, nil
}

// loadAs loads a snapshot as the caller of an account.
func loadAs(t *testing.T, handler http.Handler, account, environment string) {
	t.Helper()
	request := httptest.NewRequest(http.MethodGet, snapshotsPath+"/"+environment, nil)
	request.Header.Set("Authorization", "Bearer "+account)
	recorder := httptest.NewRecorder()
	if handler.ServeHTTP(recorder, request); recorder.Code != http.StatusOK {
		t.Fatalf("got %d: %s", recorder.Code, recorder.Body)
	}
}

func startTenants(t *testing.T) *api.API {
	t.Helper()
	of, options := &tenants{}, api.Options{SnapshotBytes: 8 * largeSnapshot}
	return api.New(api.Services{Snapshots: of, Auth: of, FlagSnapshots: &flags.Snapshots{}, Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewMetrics("test")}, options)
}

// TestSnapshot_OthersStay: an account that loads many or large snapshots evicts its own
// snapshots and not those of other accounts.
func TestSnapshot_OthersStay(t *testing.T) {
	t.Parallel()
	for account, names := range map[string]int{"many": 1005, "large": 10} {
		t.Run(account, func(t *testing.T) {
			t.Parallel()
			handler := startTenants(t)
			loadAs(t, handler, "a", "production")
			for i := range names {
				loadAs(t, handler, account, "made-up-"+strconv.Itoa(i))
			}
			if handler.HeldSeq("a", "production") < 0 {
				t.Error("the snapshot of the other account is gone")
			}
			if handler.HeldSeq(account, "made-up-0") >= 0 {
				t.Error("its own first one is still there")
			}
			if handler.HeldSeq(account, "made-up-"+strconv.Itoa(names-1)) < 0 {
				t.Error("its last one is gone")
			}
		})
	}
}

// TestSnapshot_KeepShares: the latest snapshots of one account do not push the snapshots of other
// accounts out of the file, and may use the space that these leave.
func TestSnapshot_KeepShares(t *testing.T) {
	t.Parallel()
	handler := startTenants(t)
	for _, account := range []string{"a", "b"} {
		loadAs(t, handler, account, "production")
	}
	for _, environment := range []string{"x", "y", "z"} {
		loadAs(t, handler, "large", environment)
	}
	for limit, want := range map[int]map[string]int{
		5 * largeSnapshot / 2: {"a": 1, "b": 1, "large": 2},
		5 * largeSnapshot / 4: {"a": 1, "b": 1, "large": 1},
		largeSnapshot / 2:     {"a": 1, "b": 1},
	} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			got := map[string]int{}
			for _, kept := range handler.SnapshotsToKeep(limit) {
				got[kept.Account]++
			}
			if !maps.Equal(got, want) {
				t.Errorf("of %d bytes: %v, want %v", limit, got, want)
			}
		})
	}
}

// TestSnapshot_FollowsChanges: within moments of a change of any product, a node has it in memory,
// although nobody asks for the snapshot.
func TestSnapshot_FollowsChanges(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		path := owner.makeFlag("made", nil)
		first := owner.snapshot("production").Seq
		owner.ofrep("made", `{}`).want(200)
		account := owner.get(accountPath).want(200).data().ID
		for _, change := range []func(){
			func() { owner.put(path, envelope("", "", boolean(true, nil))).want(200) },
			func() { owner.makeGroup("group", attributes{"name": "g"}) },
			func() { owner.makeConfig("made", nil) },
			func() { owner.makeKey(nil) },
		} {
			change()
			seq := owner.lastSeq()
			storetest.Wait(t, patience, "both are current", func() bool {
				held := owner.handler().HeldSeq(account, "production")
				return held >= seq && held > first && owner.handler().HasFlags(account, seq)
			})
		}
	})
}

func (c client) handler() *api.API { return c.node.App.Handler().(*api.API) }

func (c client) lastSeq() int64 {
	c.t.Helper()
	seq, err := strconv.ParseInt(c.latest().ID, 10, 64)
	if err != nil {
		c.t.Fatal(err)
	}
	return seq
}

// TestOutage_NeverGoesBack: a switch was turned off on another node, and somebody read the
// flag alone on this one. When the database goes away, neither the snapshot nor the
// evaluation that were asked for before turn it on again.
func TestOutage_NeverGoesBack(t *testing.T) {
	t.Parallel()
	direct := storetest.New(t, "postgres")
	behind, proxy := direct.ThroughProxy(t)
	there, here := speakTo(t, apptest.Start(t, direct)), speakTo(t, apptest.Start(t, behind))
	path := here.makeFlag("switch", boolean(true, nil))
	account, snapshot := here.get(accountPath).want(200).data().ID, snapshotsPath+"/production"
	old := here.get(snapshot).snapshot()
	if got := here.ofrep("switch", `{}`).want(200); got.members()["value"] != true {
		t.Fatalf("the switch is %s", got.body)
	}

	there.put(path, envelope("", "", boolean(false, nil))).want(200)
	seq := there.lastSeq()
	storetest.Wait(t, patience, "the other node's change is read", func() bool { return here.get(path).want(200).attribute("default") == false })
	storetest.Wait(t, patience, "it is kept for an outage", func() bool {
		return here.handler().HeldSeq(account, "production") >= seq && here.handler().HasFlags(account, seq)
	})
	proxy.Down()
	began := time.Now().Add(-10 * time.Second)
	storetest.Wait(t, patience, "the outage is noticed", func() bool { return here.get(snapshot).want(200).isStale(began) })
	got := here.get(snapshot).snapshot()
	if got.Seq < seq || got.Seq <= old.Seq || got.Flags[0].Attributes["default"] != false {
		t.Errorf("the outage serves change %d of %d: %v", got.Seq, seq, got.Flags)
	}
	if got := here.ofrep("switch", `{}`).want(200); got.members()["value"] != false || !got.contains("stale_since") {
		t.Errorf("the outage evaluates the switch as %s", got.body)
	}
	proxy.Up()
}

// TestSnapshot_ETagCoversContent: a sign-in, a job and a key change the account but not the
// snapshot. So a service that polls gets a 304, and the new number in a header. A change of a part
// counts only for services that have this part.
func TestSnapshot_ETagCoversContent(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		owner.makeFlag("made", nil)
		owner.put(loggersPath+"/made", envelope("logger", "made", attributes{"level": "WARN"})).want(200)
		owner.makeGroup("made-group", attributes{"level": "WARN"})
		path, levels := snapshotsPath+"/production", snapshotsPath+"/production?include=levels"
		first := owner.get(path).want(200)
		tag, levelsTag := first.header.Get("Etag"), owner.get(levels).want(200).header.Get("Etag")
		for what, change := range map[string]func(client){
			"a job":     func(owner client) { owner.makeJob(unique("job"), nil) },
			"a key":     func(owner client) { owner.makeKey(nil) },
			"a session": func(owner client) { owner.post(sessionsPath, `{"api_key":"`+owner.key+`"}`).want(201) },
			"a service": func(owner client) {
				owner.post(servicesPath, envelope("service", unique("service"), attributes{})).want(201)
			},
			"settings": func(owner client) {
				owner.put(settingsPath, `{"x":1}`, with("Content-Type", "application/json")).want(200)
			},
			"another environment": func(owner client) { owner.makeEnvironment(unique("environment")) },
			"a rule in another environment": func(owner client) {
				elsewhere := unique("elsewhere")
				owner.makeEnvironment(elsewhere)
				owner.put(flagsPath+"/made", envelope("flag", "made", attributes{"type": "BOOLEAN", "default": false,
					"environments": attributes{elsewhere: attributes{"default": true}}})).want(200)
			},
			"a level in another environment": func(owner client) {
				elsewhere := unique("elsewhere")
				owner.makeEnvironment(elsewhere)
				changed := attributes{"level": "WARN", "environments": attributes{elsewhere: attributes{"level": "DEBUG"}}}
				owner.put(loggersPath+"/made", envelope("logger", "made", changed)).want(200)
				owner.put(groupsPath+"/made-group", envelope("log_group", "made-group", changed)).want(200)
			},
			"a new name": func(owner client) {
				owner.put(accountPath, envelope("account", "", attributes{"name": unique("name")})).want(200)
			},
		} {
			t.Run(what, func(t *testing.T) {
				owner := owner.in(t)
				change(owner)
				seq := owner.lastSeq()
				for _, got := range []answer{owner.get(path, with("If-None-Match", tag)).want(304), owner.get(levels, with("If-None-Match", levelsTag)).want(304)} {
					if sent := got.header.Get("Signalbox-Seq"); sent != strconv.FormatInt(seq, 10) {
						t.Errorf("after %s: Signalbox-Seq is %q, want %d", what, sent, seq)
					}
				}
				if whole := owner.get(path).want(200); whole.snapshot().Seq != seq || whole.header.Get("Signalbox-Seq") != strconv.FormatInt(seq, 10) || whole.header.Get("Etag") != tag {
					t.Errorf("after %s: got seq %d, %v", what, whole.snapshot().Seq, whole.header)
				}
			})
		}
		owner.makeFlag("another", nil)
		owner.get(levels, with("If-None-Match", levelsTag)).want(304)
		if got := owner.get(path, with("If-None-Match", tag)).want(200); got.header.Get("Etag") == tag {
			t.Error("another flag has the same tag")
		}
	})
}
