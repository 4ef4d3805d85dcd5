package flags

import (
	"maps"
	"slices"
	"sync"

	"github.com/signalbox/signalbox/client/flageval"
)

// shardCount is how many parts a table has. A change copies the parts it touches: with one map of 9,000 flags
// every write would cost the next evaluation about a millisecond.
const shardCount = 128

// compiled is a flag ready for evaluation.
type compiled struct {
	flag     *flageval.Flag
	managed  bool // only managed flags are served
	variants variants
	decimals decimals
	bytes    int // approximate size
}

// table is an immutable set of compiled flags by key.
type table struct {
	shards [shardCount]map[string]compiled
	keys   func() []string // of managed flags, sorted by the first call
	bytes  int             // approximate size of all flags
}

// find returns the flag with a key, or a zero compiled.
func (t *table) find(key string) compiled { return t.shards[shardOf(key)][key] }

// with returns a table without the removed keys and with flags added or replaced.
func (t *table) with(flags []Flag, removed []string) *table {
	next := &table{shards: t.shards, bytes: t.bytes}
	var copied [shardCount]bool
	shard := func(key string) map[string]compiled {
		place := shardOf(key)
		if !copied[place] {
			next.shards[place], copied[place] = maps.Clone(next.shards[place]), true
		}
		if next.shards[place] == nil {
			next.shards[place] = map[string]compiled{}
		}
		return next.shards[place]
	}
	for _, key := range removed {
		next.bytes -= shard(key)[key].bytes
		delete(shard(key), key)
	}
	for _, flag := range flags {
		made := compiled{flag.Compiled(), flag.Managed, flag.variants(), flag.decimals(), compiledBytes + flag.bytes()}
		next.bytes += made.bytes - shard(flag.Key)[flag.Key].bytes
		shard(flag.Key)[flag.Key] = made
	}
	next.keys = sync.OnceValue(next.sorted)
	return next
}

func (t *table) sorted() []string {
	var keys []string
	for _, shard := range t.shards {
		for key, each := range shard {
			if each.managed {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	return keys
}

// shardOf returns the shard of a key. It hashes the last bytes, in which keys differ most.
func shardOf(key string) int {
	hash := uint(len(key))
	for i := max(0, len(key)-4); i < len(key); i++ {
		hash = hash*31 + uint(key[i])
	}
	return int(hash % shardCount)
}
