package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
)

// Configuration is a declared config. It is safe for concurrent use; reading it takes no lock.
type Configuration[T any] struct {
	box       *Box
	key       string
	defaults  json.RawMessage
	current   atomic.Pointer[T]
	listeners listeners

	mu  sync.Mutex
	err error
}

// Config declares a config whose values decode into a T, by the names in its json tags. Values that neither the account's
// config nor its ancestors have come from defaults. If *T has a method Validate() error, values that Validate rejects are
// not used.
func Config[T any](b *Box, key string, defaults T) *Configuration[T] {
	made := &Configuration[T]{box: b, key: key}
	made.current.Store(&defaults)
	var err error
	if made.defaults, err = json.Marshal(defaults); err != nil {
		made.defaults, made.err = nil, fmt.Errorf("live: config %s: the defaults do not encode as JSON: %w", key, err)
	}
	identity := configIdentity{key, goTypeOf(defaults), string(made.defaults)}
	return b.configs.declare(identity, made).(*Configuration[T])
}

// Key returns the config's key.
func (c *Configuration[T]) Key() string { return c.key }

// Get returns the current values. Do not change maps, slices and pointers in them.
func (c *Configuration[T]) Get() T { return *c.current.Load() }

// Err returns why the newest values are not used, or nil when they are. With an error, Get returns the last good values.
func (c *Configuration[T]) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// OnChange calls a function with the values before and after a change. Calls come one after the other, not on the goroutine
// that applies changes. stop ends the calls.
func (c *Configuration[T]) OnChange(listener func(before, after T)) (stop func()) {
	last := c.current.Load()
	return c.listeners.add(c.box.callbacks, func() {
		before, after := last, c.current.Load()
		last = after
		if before != after {
			listener(*before, *after)
		}
	})
}

// declaredConfig is a Configuration of any type.
type declaredConfig interface {
	Key() string
	Err() error
	update(values map[string]json.RawMessage) error
}

// update decodes values, and keeps the last good values if that fails. A deleted config gets the defaults.
func (c *Configuration[T]) update(values map[string]json.RawMessage) error {
	next, err := c.decode(values)
	c.mu.Lock()
	c.err = err
	c.mu.Unlock()
	if err != nil {
		return err
	}
	if before := c.current.Load(); !reflect.DeepEqual(before, next) {
		c.current.Store(next)
		c.listeners.notify()
	}
	return nil
}

// decode decodes values over a new copy of the defaults, so that the maps in it are not shared.
func (c *Configuration[T]) decode(values map[string]json.RawMessage) (*T, error) {
	next := new(T)
	if c.defaults != nil {
		if err := json.Unmarshal(c.defaults, next); err != nil {
			return nil, fmt.Errorf("live: config %s: the defaults do not decode: %w", c.key, err)
		}
	}
	if len(values) > 0 { // no values would be null, which takes the defaults from a map
		text, err := json.Marshal(values)
		if err != nil {
			return nil, fmt.Errorf("live: config %s: %w", c.key, err)
		}
		if err := json.Unmarshal(text, next); err != nil {
			return nil, fmt.Errorf("live: config %s does not fit %T: %w", c.key, *next, err)
		}
	}
	if checked, ok := any(next).(interface{ Validate() error }); ok {
		if err := checked.Validate(); err != nil {
			return nil, fmt.Errorf("live: config %s is not valid: %w", c.key, err)
		}
	}
	return next, nil
}

// configTable has the declared configs and the values of all configs.
type configTable struct {
	problems *problems

	mu       sync.Mutex
	values   map[string]map[string]json.RawMessage
	declared map[configIdentity]declaredConfig
}

// configIdentity identifies a declaration. Repeating a declaration returns the config of the first.
type configIdentity struct {
	key      string
	goType   goType
	defaults string
}

func (t *configTable) declare(identity configIdentity, made declaredConfig) declaredConfig {
	t.mu.Lock()
	defer t.mu.Unlock()
	if found, known := t.declared[identity]; known {
		return found
	}
	t.declared[identity] = made
	if t.values != nil {
		t.update(made)
	}
	return made
}

// replace sets the values of all configs.
func (t *configTable) replace(values map[string]map[string]json.RawMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.values
	t.values = values
	for _, each := range t.declared {
		if before == nil || !maps.EqualFunc(before[each.Key()], values[each.Key()], sameJSON) {
			t.update(each)
		}
	}
}

func (t *configTable) update(each declaredConfig) {
	if err := each.update(t.values[each.Key()]); err != nil {
		t.problems.warn("config "+each.Key(), "A config cannot be used; the last good values stay.", "config", each.Key(), "error", err)
	}
}

// all returns the declared configs.
func (t *configTable) all() []declaredConfig {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Values(t.declared))
}

func sameJSON(a, b json.RawMessage) bool { return string(a) == string(b) }
