// Package signalboxtest lets tests of a service set its flags, levels and configs, without a server:
//
//	box := signalboxtest.New(t, signalboxtest.Flags{"checkout-v2": true})
//	shop := newShop(box.Box)
//	…
//	box.Set(signalboxtest.Flags{"checkout-v2": false})
//
// Values are set and changed at once; only listeners run on another goroutine. For tests that start the whole service,
// [NewServer] runs a fake server that [live.Start] can connect to.
package signalboxtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/live"
	"github.com/signalbox/signalbox/client/loglevel"
)

// Environment is the environment of every box and server of this package.
const Environment = "test"

// Values are values of a box: Flags, Levels or Configs.
type Values interface {
	addTo(*contents) error
}

// Flags maps keys of flags to their value for every context: a bool, a string, a number, or anything else for a JSON flag. A
// [flageval.Environment] is a flag with rules; it needs a Default, which decides the type.
type Flags map[string]any

// Levels are the levels of managed loggers by their names.
type Levels map[string]loglevel.Level

// Configs are the values of configs by their keys: anything that is a JSON object.
type Configs map[string]any

// contents is everything that was set.
type contents struct {
	seq     int64
	flags   map[string]signalbox.Flag
	loggers map[string]signalbox.Logger
	configs map[string]map[string]json.RawMessage
}

func newContents() *contents {
	return &contents{flags: map[string]signalbox.Flag{}, loggers: map[string]signalbox.Logger{}, configs: map[string]map[string]json.RawMessage{}}
}

// set adds values. Earlier values with other keys stay.
func (c *contents) set(t testing.TB, values []Values) {
	t.Helper()
	c.seq++
	for _, each := range values {
		if err := each.addTo(c); err != nil {
			t.Fatalf("signalboxtest: %v", err)
		}
	}
}

func (c *contents) snapshot() signalbox.Snapshot {
	return signalbox.Snapshot{Resource: signalbox.Resource{ID: Environment}, Seq: c.seq, Configs: maps.Clone(c.configs),
		Flags: slices.Collect(maps.Values(c.flags)), Loggers: slices.Collect(maps.Values(c.loggers))}
}

func (f Flags) addTo(c *contents) error {
	for key, value := range f {
		here, ruled := value.(flageval.Environment)
		if !ruled {
			text, err := json.Marshal(value)
			if err != nil {
				return fmt.Errorf("flag %s: %w", key, err)
			}
			here = flageval.Environment{Enabled: true, Default: text}
		}
		flag := signalbox.Flag{Resource: signalbox.Resource{ID: key}, Type: typeOf(here.Default), Default: here.Default, Managed: true,
			Environments: map[string]flageval.Environment{Environment: here}}
		if problems := flageval.Compile(flag.Definition()).Problems(); len(problems) > 0 {
			return fmt.Errorf("flag %s: %s: %w", key, problems[0].Pointer, problems[0].Err)
		}
		c.flags[key] = flag
	}
	return nil
}

// typeOf returns the type of flag that serves a value.
func typeOf(value json.RawMessage) flageval.Type {
	for _, each := range []flageval.Type{flageval.Boolean, flageval.String, flageval.Numeric} {
		if flageval.Fits(each, value) {
			return each
		}
	}
	return flageval.JSON
}

func (l Levels) addTo(c *contents) error {
	for name, level := range l {
		if level > loglevel.Silent {
			return fmt.Errorf("logger %s: %s is not a level", name, level)
		}
		key := loglevel.Normalize(name)
		c.loggers[key] = signalbox.Logger{Resource: signalbox.Resource{ID: key}, Name: name, Level: level, Managed: level != loglevel.None}
	}
	return nil
}

func (s Configs) addTo(c *contents) error {
	for key, value := range s {
		text, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("config %s: %w", key, err)
		}
		var values map[string]json.RawMessage
		if err := json.Unmarshal(text, &values); err != nil {
			return fmt.Errorf("config %s: %T is not a JSON object: %w", key, value, err)
		}
		c.configs[key] = values
	}
	return nil
}

// Box is a box without a server.
type Box struct {
	*live.Box
	t        testing.TB
	contents *contents
	replace  func(signalbox.Snapshot)
}

// New returns a box with values. It is closed at the end of the test.
func New(t testing.TB, values ...Values) *Box {
	t.Helper()
	b := &Box{t: t, contents: newContents()}
	b.contents.set(t, values)
	b.Box, b.replace = live.Static(b.contents.snapshot())
	t.Cleanup(func() { b.Close(t.Context()) })
	return b
}

// Set changes values. Values with other keys stay.
func (b *Box) Set(values ...Values) {
	b.t.Helper()
	b.contents.set(b.t, values)
	b.replace(b.contents.snapshot())
}
