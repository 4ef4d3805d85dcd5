package live

import (
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// bell wakes a loop that receives from it.
type bell chan struct{}

func newBell() bell { return make(bell, 1) }

// ring wakes the loop, now or when it receives again. It never blocks.
func (b bell) ring() {
	select {
	case b <- struct{}{}:
	default: // a wake-up is already pending
	}
}

// slowCallback is how long a callback may take before a warning is logged.
const slowCallback = time.Second

// dispatcher calls the listeners of a box one after the other, on a goroutine that runs while the queue has calls. A
// listener that is slow or panics delays only other listeners.
type dispatcher struct {
	problems *problems

	mu    sync.Mutex
	queue []func()
	busy  bool
}

func (d *dispatcher) push(call func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = append(d.queue, call)
	if !d.busy {
		d.busy = true
		go d.run()
	}
}

func (d *dispatcher) run() {
	for {
		d.mu.Lock()
		if len(d.queue) == 0 {
			d.busy = false
			d.mu.Unlock()
			return
		}
		call := d.queue[0]
		d.queue = d.queue[1:]
		d.mu.Unlock()
		d.call(call)
	}
}

// call runs a callback. It recovers from a panic, which would end the service: the service cannot recover on this goroutine.
func (d *dispatcher) call(callback func()) {
	slow := time.AfterFunc(slowCallback, func() {
		d.problems.warn("callback", "A Signalbox listener has been running for a second; others wait for it.")
	})
	defer slow.Stop()
	defer func() {
		if cause := recover(); cause != nil {
			d.problems.warn("panic", "A Signalbox listener panicked; it is called again at the next change.",
				"panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
		}
	}()
	callback()
}

// listener is a function to call at changes. Several changes before its turn cause one call.
type listener struct {
	queue *dispatcher
	call  func()

	mu      sync.Mutex
	pending bool
	stopped bool
}

func (l *listener) notify() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.pending && !l.stopped {
		l.pending = true
		l.queue.push(l.run)
	}
}

func (l *listener) run() {
	l.mu.Lock()
	l.pending = false
	stopped := l.stopped
	l.mu.Unlock()
	if !stopped {
		l.call()
	}
}

func (l *listener) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
}

// listeners are the listeners of one flag, config or state.
type listeners struct {
	mu   sync.Mutex
	list []*listener
}

// add adds a listener and returns the function that removes it.
func (l *listeners) add(queue *dispatcher, call func()) (stop func()) {
	added := &listener{queue: queue, call: call}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, added)
	return func() {
		added.stop()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.list = slices.DeleteFunc(l.list, func(each *listener) bool { return each == added })
	}
}

func (l *listeners) notify() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, each := range l.list {
		each.notify()
	}
}

// keyListeners are called with the keys of the changed flags.
type keyListeners struct {
	all listeners

	mu   sync.Mutex
	news map[*keySet]bool // one set per listener
}

// keySet has the changed keys that a listener has not been called with yet.
type keySet struct{ keys map[string]bool }

func (l *keyListeners) add(queue *dispatcher, call func(keys []string)) (stop func()) {
	own := &keySet{map[string]bool{}}
	l.mu.Lock()
	if l.news == nil {
		l.news = map[*keySet]bool{}
	}
	l.news[own] = true
	l.mu.Unlock()
	remove := l.all.add(queue, func() {
		if keys := l.take(own); len(keys) > 0 { // none if the call before began during the change and has taken its keys
			call(keys)
		}
	})
	return func() {
		remove()
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.news, own)
	}
}

// take returns the sorted keys that changed since the last call.
func (l *keyListeners) take(own *keySet) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	keys := slices.Sorted(maps.Keys(own.keys))
	clear(own.keys)
	return keys
}

func (l *keyListeners) notify(changed []string) {
	if len(changed) == 0 {
		return
	}
	l.mu.Lock()
	for each := range l.news {
		for _, key := range changed {
			each.keys[key] = true
		}
	}
	l.mu.Unlock()
	l.all.notify()
}
