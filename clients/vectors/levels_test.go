package vectors_test

import (
	"fmt"
	"testing"

	"github.com/signalbox/signalbox/client/loglevel"
)

type nameVector struct {
	Name   string  `json:"name"`
	Key    string  `json:"key"`
	Parent *string `json:"parent"`
}

func nameVectors(*testing.T) []any {
	var lines []any
	for _, name := range []string{"shop", "Shop.Payments", "shop/payments:http", "a:b/c.D", "", ".", "a.", ".a", "a..b", "GRÖSSE/Straße", "İstanbul", "ΑΣ", "com.example.App$Inner", "shop payments"} {
		v := nameVector{Name: name, Key: loglevel.Normalize(name)}
		if parent, has := loglevel.Parent(v.Key); has {
			v.Parent = &parent
		}
		lines = append(lines, v)
	}
	return lines
}

type vectorLogger struct {
	Key          string                    `json:"key"`
	Level        loglevel.Level            `json:"level"`
	Environments map[string]loglevel.Level `json:"environments"`
	Group        string                    `json:"group"`
	Managed      bool                      `json:"managed"`
}

type vectorGroup struct {
	Key          string                    `json:"key"`
	Level        loglevel.Level            `json:"level"`
	Environments map[string]loglevel.Level `json:"environments"`
}

type resolvedName struct {
	Level      loglevel.Level  `json:"level"`
	Origin     loglevel.Origin `json:"origin"`
	Of         string          `json:"of"`
	Controlled bool            `json:"controlled"`
}

type levelVector struct {
	Loggers     []vectorLogger          `json:"loggers"`
	Groups      []vectorGroup           `json:"groups"`
	Environment string                  `json:"environment"`
	Names       map[string]resolvedName `json:"names"`
}

func levelVectors(*testing.T) []any {
	var lines []any
	r := newRandom(3)
	for range 100 {
		lines = append(lines, newLevelVector(r.loggers(), r.groups()))
	}
	return lines
}

func newLevelVector(loggers []vectorLogger, groups []vectorGroup) levelVector {
	var nodes []loglevel.Logger
	for _, each := range loggers {
		nodes = append(nodes, loglevel.Logger(each))
	}
	var sets []loglevel.Group
	for _, each := range groups {
		sets = append(sets, loglevel.Group(each))
	}
	tree := loglevel.NewTree(nodes, sets)
	v := levelVector{Loggers: loggers, Groups: groups, Environment: "production", Names: map[string]resolvedName{}}
	for _, name := range append(loggerNames(), "d", "a.b.c.d.e", "x.y") {
		found := tree.Resolve(name, v.Environment)
		v.Names[name] = resolvedName{found.Level, found.Origin, found.Of, tree.Controls(name)}
	}
	return v
}

func loggerNames() []string { return []string{"a", "a.b", "a.b.c", "a.b.c.d", "b", "b.c", "ab", "a.c"} }

func (r random) loggers() []vectorLogger {
	list := []vectorLogger{}
	for _, key := range loggerNames() {
		if r.chance(60) {
			list = append(list, vectorLogger{Key: key, Level: r.level(), Environments: r.overrides(), Group: pick(r, "", "", "g0", "g1", "gone"), Managed: r.chance(40)})
		}
	}
	return list
}

func (r random) groups() []vectorGroup {
	list := []vectorGroup{}
	for i := range r.IntN(3) {
		list = append(list, vectorGroup{Key: fmt.Sprint("g", i), Level: r.level(), Environments: r.overrides()})
	}
	return list
}

func (r random) level() loglevel.Level {
	if r.chance(50) {
		return loglevel.None
	}
	return pick(r, loglevel.Levels()...)
}

func (r random) overrides() map[string]loglevel.Level {
	found := map[string]loglevel.Level{}
	for _, environment := range []string{"production", "staging"} {
		if level := r.level(); level != loglevel.None && r.chance(50) {
			found[environment] = level
		}
	}
	return found
}
