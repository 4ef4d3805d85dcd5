package api_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

// freshness is a write and a read: a read that starts after the write has returned shows its
// result.
type freshness struct {
	name string
	// write leaves an environment with a name.
	write func(id, name string) error
	read  client
	// late allows a moment: a node on SQLite looks for the commits of other
	// processes every few milliseconds only.
	late bool
}

// writeThrough writes over HTTP.
func writeThrough(c client) func(id, name string) error {
	return func(id, name string) error {
		if got := c.put(environmentsPath+"/"+id, envelope("", "", attributes{"name": name})); got.status != 200 {
			return fmt.Errorf("got %d: %s", got.status, got.body)
		}
		return nil
	}
}

// writeBeside writes over another connection to the database, as another
// process would, without a word to the node.
func writeBeside(c client, database storetest.Database) func(id, name string) error {
	service := environments.Service{Store: storetest.Environments(database.Open(c.t)), Plans: plans.BuiltIn()}
	caller := accounts.Caller{Account: c.get(accountPath).want(200).data().ID, KeyID: "beside", KeyName: "beside", Role: accounts.Owner}
	return func(id, name string) error {
		_, err := service.Replace(c.t.Context(), caller, id, environments.Draft{Name: optional.Of(name)}, nil)
		return err
	}
}

// TestCache_NeverStale: after a write by any route into the database, reads
// that the response cache may answer return the new value.
func TestCache_NeverStale(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		here := start(t, database)
		ways := []freshness{
			{"the same node", writeThrough(here), here, false},
			{"another connection", writeBeside(here, database), here, database.Kind == "sqlite"},
		}
		if database.Kind == "postgres" {
			there := start(t, database)
			ways = append(ways,
				freshness{"another node", writeThrough(there), here, false},
				freshness{"this node seen from another", writeThrough(here), there, false},
				freshness{"another connection seen from another node", writeBeside(here, database), there, false})
		}
		var group sync.WaitGroup
		for _, way := range ways {
			for range 2 {
				id := unique("environment")
				here.makeEnvironment(id)
				group.Go(func() { writeAndRead(t, way, id) })
			}
		}
		group.Wait()
	})
}

func writeAndRead(t *testing.T, way freshness, id string) {
	for round := range suite.Scale(8, 25) {
		name := fmt.Sprintf("%s %d", id, round)
		if err := way.write(id, name); err != nil {
			t.Errorf("%s: %v", way.name, err)
			return
		}
		for _, path := range []string{environmentsPath + "/" + id, environmentsPath, environmentsPath + "?filter[search]=" + id, environmentsPath + "?sort=-updated_at"} {
			shown := func() bool { return way.read.get(path).contains(`"` + name + `"`) }
			if way.late {
				eventually(t, time.Second, name+" is shown by "+path, shown)
			} else if !shown() {
				t.Errorf("%s: %s does not show %q", way.name, path, name)
				return
			}
		}
	}
}

// TestCache_ListsFollowCreateAndDelete does the same for resources that are created and deleted.
func TestCache_ListsFollowCreateAndDelete(t *testing.T) {
	t.Parallel()
	type kept struct {
		path      string
		create    func(c client, id string)
		inOrderOf string
	}
	kinds := []kept{
		{environmentsPath, func(c client, id string) { c.makeEnvironment(id) }, "sort=key"},
		{environmentsPath, func(c client, id string) { c.discover("environment", id) }, "filter[classification]=AD_HOC"},
		{servicesPath, func(c client, id string) { c.post(servicesPath, envelope("", id, attributes{})).want(201) }, "sort=name"},
		{servicesPath, func(c client, id string) { c.discover("service", id) }, "page[size]=1000"},
		{typesPath, func(c client, id string) { c.discover(id, "key") }, "meta[total]=true"},
	}
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		nodes := []client{start(t, database)}
		if database.Kind == "postgres" {
			nodes = append(nodes, start(t, database))
		}
		for i, kind := range kinds {
			t.Run(fmt.Sprintf("%d %s", i, kind.path), func(t *testing.T) {
				t.Parallel()
				for round := range 12 {
					writer, reader := nodes[round%len(nodes)].in(t), nodes[(round+1)%len(nodes)].in(t)
					id := unique("kept")
					requireListed(reader, kind.path, kind.inOrderOf, id, false)
					kind.create(writer, id)
					requireListed(reader, kind.path, kind.inOrderOf, id, true)
					reader.get(kind.path + "/" + id).want(200)
					writer.delete(kind.path + "/" + id).want(204)
					requireListed(reader, kind.path, kind.inOrderOf, id, false)
					reader.get(kind.path + "/" + id).want(404)
				}
			})
		}
	})
}

func requireListed(c client, path, query, id string, want bool) {
	c.t.Helper()
	for _, each := range []string{path, path + "?" + query} {
		if slices.Contains(c.get(each).want(200).ids(), id) != want {
			c.t.Fatalf("%s lists %s: %v, want %v", each, id, !want, want)
		}
	}
}

func TestCache_SeesOperatorChanges(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		account := owner.accountKey()
		operate(t, owner.node, func(operator *app.Operator) error {
			for range 10 {
				_, key, err := operator.CreateKey(t.Context(), account, accounts.KeyDraft{Name: optional.Of("by hand")})
				if err != nil {
					return err
				}
				owner.get(keysPath + "/" + key.ID).want(200)
				owner.as(key.Plaintext).get(environmentsPath).want(200)
			}
			for plan, limit := range map[string]string{"free": `"jobs.active_jobs":10,`, "standard": `"jobs.active_jobs":100,`, "pro": `"jobs.active_jobs":-1,`} {
				if _, err := operator.SetPlan(t.Context(), account, plan); err != nil {
					return err
				}
				if got := owner.get(accountPath).want(200); !got.contains(`"jobs":"`+plan+`"`) || !got.contains(limit) {
					t.Errorf("the account is on %s, want %s", got.body, plan)
				}
			}
			return nil
		})
	})
}

// TestCache_KeepsAccountsApart asks for the same paths in two accounts.
func TestCache_KeepsAccountsApart(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, first client) {
		second := first.account("pro")
		first.put(environmentsPath+"/staging", envelope("", "", attributes{"name": "First"})).want(200)
		second.put(environmentsPath+"/staging", envelope("", "", attributes{"name": "Second"})).want(200)
		for range 3 {
			for _, path := range []string{environmentsPath, environmentsPath + "/staging"} {
				if got := first.get(path); !got.contains(`"First"`) || got.contains(`"Second"`) {
					t.Errorf("%s: the first account sees %s", path, got.body)
				}
				if got := second.get(path); !got.contains(`"Second"`) || got.contains(`"First"`) {
					t.Errorf("%s: the second account sees %s", path, got.body)
				}
			}
		}
	})
}
